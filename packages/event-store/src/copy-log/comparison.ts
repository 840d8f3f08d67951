// Two logs side by side: the moved events of one must be those of the other, in the same order.
import { isDeepStrictEqual } from 'node:util'
import { describe, isMoved, type RawEvent } from '../raw/rawEvent.ts'
import { createSoftDeletions, isServerMade, type SoftDeletions } from './softDeletions.ts'

/** The logs are not the same; the message names the first difference. */
export class LogDifferenceError extends Error {
  override readonly name = 'LogDifferenceError'
}

export type Comparison = {
  /**
   * The target's counterpart of the source's next event.
   * @returns undefined when the target has ended before it
   * @throws LogDifferenceError
   */
  counterpart(source: RawEvent): Promise<RawEvent | undefined>
  /** Tells of an event that was just written to the target, after its end was reached. */
  written(event: RawEvent): void
  /** Tells of an event that the target has made itself; the source's counterpart comes later. */
  madeByTarget(event: RawEvent): void
  /** @throws LogDifferenceError when the target has something that the source has not */
  finish(): Promise<void>
  readonly softDeletions: SoftDeletions
  /** How many counterparts have an id of their own, because both servers made the event. */
  readonly serverMade: number
}

/** @param target the target's events in order, from the start, system events too */
export function compareWith(target: AsyncIterable<RawEvent>): Comparison {
  const events = moved(target)
  const softDeletions = createSoftDeletions()
  // A source's server may have brought a stream back a moment after others wrote; the target does it at once.
  const early = new Map<string, RawEvent>()
  let serverMade = 0
  const matched = (source: RawEvent, found: RawEvent): RawEvent => {
    if (check(source, found)) serverMade += 1
    return found
  }
  return {
    softDeletions,
    get serverMade() {
      return serverMade
    },
    async counterpart(source) {
      const known = early.get(placeOf(source))
      if (known !== undefined) {
        early.delete(placeOf(source))
        return matched(source, known)
      }
      for (;;) {
        const next = await events.next()
        if (next.done) return undefined
        const isEarly = placeOf(next.value) !== placeOf(source) && softDeletions.isAwaited(next.value)
        softDeletions.note(next.value)
        if (!isEarly) return matched(source, next.value)
        early.set(placeOf(next.value), next.value)
      }
    },
    written: (event) => softDeletions.note(event),
    madeByTarget(event) {
      softDeletions.note(event)
      early.set(placeOf(event), event)
    },
    async finish() {
      const [left] = early.values()
      const next = await events.next()
      const extra = left ?? (next.done ? undefined : next.value)
      if (extra) throw new LogDifferenceError(`The target has ${describe(extra)}, which the source has not`)
    },
  }
}

/** The events that are moved, out of all. */
export async function* moved(events: AsyncIterable<RawEvent>): AsyncGenerator<RawEvent, void> {
  for await (const event of events) if (isMoved(event.stream)) yield event
}

const placeOf = ({ stream, revision }: RawEvent) => `${revision}@${stream}`

const text = (value: Uint8Array) => Buffer.from(value).toString()
const same = (one: Uint8Array, other: Uint8Array) => Buffer.compare(one, other) === 0

/** @returns whether the two are the same but for an id that each server has made */
function check(source: RawEvent, target: RawEvent): boolean {
  const byServer = isServerMade(source)
  const differences = [
    source.stream !== target.stream || source.revision !== target.revision ? 'place' : undefined,
    source.type !== target.type ? 'type' : undefined,
    source.id !== target.id && !byServer ? 'id' : undefined,
    source.contentType !== target.contentType ? 'content type' : undefined,
    same(source.data, target.data) || (byServer && source.id !== target.id && sameJson(source, target))
      ? undefined
      : 'data',
    same(source.metadata, target.metadata) ? undefined : 'metadata',
  ].filter((difference) => difference !== undefined)
  if (differences.length === 0) return source.id !== target.id
  throw new LogDifferenceError(
    `The logs differ in ${differences.join(', ')}: the source has ${describe(source)}, the target ${describe(target)}`,
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
