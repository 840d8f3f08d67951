// Samples of every event that was ever stored, for the tests of all who read events. They stand in packages/domain/golden.
import { readdirSync, readFileSync } from 'node:fs'
import type { EventMetadata } from '@paylog/domain/events'
import type { RecordedDomainEvent } from '@paylog/domain/recordedEvents'

const folder = new URL('../../domain/golden/', import.meta.url)

/** A sample as its file has it. */
type WrittenSample = {
  readonly data: object
  readonly metadata: EventMetadata & { readonly schema: number }
  /** Of a former shape: the data in the newest one. */
  readonly current?: object
}

export type GoldenSample = Pick<WrittenSample, 'data' | 'metadata'> & {
  /** For messages: which sample of which file. */
  readonly name: string
  /** As it stands in the log. */
  readonly storedType: string
  /** What the codec makes of it. */
  readonly event: RecordedDomainEvent
}

/** All samples, which nobody can change, in the order of their files' names and then as they stand there. */
export function goldenSamples(): readonly GoldenSample[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'))
  return files.toSorted().flatMap((file) => {
    const storedType = file.slice(0, -'.json'.length)
    const written: readonly WrittenSample[] = JSON.parse(readFileSync(new URL(file, folder), 'utf8'), frozen)
    return written.map(({ data, metadata, current = data }, index) => {
      const event = { type: storedType.replace(/\.v\d+$/, ''), data: current }
      // That the codec makes this very event of it is a test of its own; the compiler cannot read files.
      return { name: `${file} ${index}`, storedType, data, metadata, event: event as RecordedDomainEvent }
    })
  })
}

const frozen = (_key: string, value: unknown) => Object.freeze(value)
