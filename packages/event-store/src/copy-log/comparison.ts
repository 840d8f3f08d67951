// Two logs side by side: the moved events of one must be those of the other, in the same order.
import { isDeepStrictEqual } from 'node:util'
import { describeEvent, isCopiedStream, type RawEvent } from '../raw/rawEvent.ts'
import { createSoftDeletions, isServerGenerated, type SoftDeletions } from './softDeletions.ts'

/** The logs are not the same; the message names the first difference. */
export class LogDifferenceError extends Error {
  override readonly name = 'LogDifferenceError'
}

export type LogComparison = {
  /**
   * The target's counterpart of the source's next event.
   * @returns undefined when the target has ended before it
   * @throws LogDifferenceError
   */
  counterpart(source: RawEvent): Promise<RawEvent | undefined>
  /** Tells of an event that was just written to the target, after its end was reached. */
  recordWritten(event: RawEvent): void
  /** Tells of an event that the target has made itself; the source's counterpart comes later. */
  recordGenerated(event: RawEvent): void
  /** @throws LogDifferenceError when the target has something that the source has not */
  finish(): Promise<void>
  readonly softDeletions: SoftDeletions
  /** How many counterparts have an id of their own, because both servers made the event. */
  readonly serverGenerated: number
}

/** @param target the target's events in order, from the start, system events too */
export function compareWith(target: AsyncIterable<RawEvent>): LogComparison {
  const events = copiedEvents(target)
  const softDeletions = createSoftDeletions()
  // A source's server may have brought a stream back a moment after others wrote; the target does it at once.
  const early = new Map<string, RawEvent>()
  let serverGenerated = 0
  const matched = (source: RawEvent, found: RawEvent): RawEvent => {
    if (compareEvents(source, found)) serverGenerated += 1
    return found
  }
  return {
    softDeletions,
    get serverGenerated() {
      return serverGenerated
    },
    async counterpart(source) {
      const known = early.get(revisionKeyOf(source))
      if (known !== undefined) {
        early.delete(revisionKeyOf(source))
        return matched(source, known)
      }
      for (;;) {
        const next = await events.next()
        if (next.done) return undefined
        const isEarly = revisionKeyOf(next.value) !== revisionKeyOf(source) && softDeletions.isPending(next.value)
        softDeletions.record(next.value)
        if (!isEarly) return matched(source, next.value)
        early.set(revisionKeyOf(next.value), next.value)
      }
    },
    recordWritten: (event) => softDeletions.record(event),
    recordGenerated(event) {
      softDeletions.record(event)
      early.set(revisionKeyOf(event), event)
    },
    async finish() {
      const [left] = early.values()
      const next = await events.next()
      const extra = left ?? (next.done ? undefined : next.value)
      if (extra) throw new LogDifferenceError(`The target has ${describeEvent(extra)}, which the source has not`)
    },
  }
}

/** The events that are moved, out of all. */
export async function* copiedEvents(events: AsyncIterable<RawEvent>): AsyncGenerator<RawEvent, void> {
  for await (const event of events) if (isCopiedStream(event.stream)) yield event
}

const revisionKeyOf = ({ stream, revision }: RawEvent) => `${revision}@${stream}`

const text = (value: Uint8Array) => Buffer.from(value).toString()
const sameBytes = (one: Uint8Array, other: Uint8Array) => Buffer.compare(one, other) === 0

/** @returns whether the two are the same but for an id that each server has made */
function compareEvents(source: RawEvent, target: RawEvent): boolean {
  const byServer = isServerGenerated(source)
  const differences = [
    source.stream !== target.stream || source.revision !== target.revision ? 'place' : undefined,
    source.type !== target.type ? 'type' : undefined,
    source.id !== target.id && !byServer ? 'id' : undefined,
    source.contentType !== target.contentType ? 'content type' : undefined,
    sameBytes(source.data, target.data) || (byServer && source.id !== target.id && sameJson(source, target))
      ? undefined
      : 'data',
    sameBytes(source.metadata, target.metadata) ? undefined : 'metadata',
  ].filter((difference) => difference !== undefined)
  if (differences.length === 0) return source.id !== target.id
  throw new LogDifferenceError(
    `The logs differ in ${differences.join(', ')}: the source has ${describeEvent(source)}, the target ${describeEvent(target)}`,
  )
}

/** Servers of several versions may write the same metadata with other spaces. */
function sameJson(source: RawEvent, target: RawEvent): boolean {
  try {
    return isDeepStrictEqual(JSON.parse(text(source.data)), JSON.parse(text(target.data)))
  } catch {
    return false
  }
}
