// Golden samples of every event version that was ever stored, from packages/domain/golden.
import { readdirSync, readFileSync } from 'node:fs'
import type { EventMetadata } from '@paylog/domain/events'
import type { RecordedDomainEvent } from '@paylog/domain/recordedEvents'

const folder = new URL('../../domain/golden/', import.meta.url)

type StoredMetadata = Omit<EventMetadata, 'correlationId' | 'causationId'> & {
  readonly $correlationId: string
  readonly $causationId: string
  readonly schema: number
}

/** A sample as in its file. */
type WrittenSample = {
  readonly data: object
  readonly metadata: StoredMetadata
  /** For a former version: the data in the current version. */
  readonly current?: object
}

export type GoldenSample = {
  /** As recorded. */
  readonly data: object
  readonly storedMetadata: StoredMetadata
  /** As decoded. */
  readonly metadata: EventMetadata & { readonly schema: number }
  /** For messages: file name and index. */
  readonly name: string
  /** The type in the log, with its version. */
  readonly storedType: string
  /** The decoded event. */
  readonly event: RecordedDomainEvent
}

/** All samples, frozen, sorted by file name and then in file order. */
export function goldenSamples(): readonly GoldenSample[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'))
  return files.toSorted().flatMap((file) => {
    const storedType = file.slice(0, -'.json'.length)
    const written: readonly WrittenSample[] = JSON.parse(readFileSync(new URL(file, folder), 'utf8'), frozen)
    return written.map(({ data, metadata: storedMetadata, current = data }, index) => {
      const { $correlationId: correlationId, $causationId: causationId, ...rest } = storedMetadata
      const event = { type: storedType.replace(/\.v\d+$/, ''), data: current }
      // The cast is safe: a separate test checks that the codec decodes the sample to this event.
      const metadata = { correlationId, causationId, ...rest }
      return {
        name: `${file} ${index}`,
        storedType,
        data,
        storedMetadata,
        metadata,
        event: event as RecordedDomainEvent,
      }
    })
  })
}

const frozen = (_key: string, value: unknown) => Object.freeze(value)
