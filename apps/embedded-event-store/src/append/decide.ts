// The expected-revision and idempotency rules of EventStoreDB, without any I/O.
import type { EventPlace } from '../storage/storedEvent.ts'
import { firstReadable, oldestReadableTicks, type StreamView } from '../storage/streamHead.ts'
import { expectAny, expectNoStream, expectStreamExists } from './proposal.ts'

/** Events that are already in the log, committed or staged earlier in the same group. */
export type KnownEvents = {
  /** The first event with this id in the whole log, if it is in this stream. */
  byId(eventId: string): EventPlace | undefined
  atRevision(revision: bigint): EventPlace | undefined
}

export type Decision =
  | { readonly kind: 'write' }
  | { readonly kind: 'idempotent'; readonly place: EventPlace }
  | { readonly kind: 'no_response' }
  | { readonly kind: 'wrong_expected_version' }
  | { readonly kind: 'stream_deleted' }

const wrong: Decision = { kind: 'wrong_expected_version' }
const write: Decision = { kind: 'write' }

/**
 * Decides one append, all or nothing. A deletion is decided like an append of one event with a new id.
 * The order of the checks is EventStoreDB's: a repeated append succeeds even on a soft-deleted stream.
 */
export function decide(view: StreamView, expected: bigint, eventIds: readonly string[], known: KnownEvents): Decision {
  if (view.closed) return { kind: 'stream_deleted' }
  if (expected === expectStreamExists) {
    if (view.deletionMark !== undefined) return { kind: 'stream_deleted' }
    // A stream that only has metadata exists.
    if (view.last < 0n && view.metastreamLast < 0n) return wrong
  }
  if (expected === expectAny || expected === expectStreamExists) return decideByIds(eventIds, known)
  if (expected > view.last) return wrong
  if (expected === view.last) return write
  return decideBelowLast(view, expected, eventIds, known)
}

function decideByIds(eventIds: readonly string[], known: KnownEvents): Decision {
  let first: EventPlace | undefined
  let last: EventPlace | undefined
  for (const eventId of eventIds) {
    const found = known.byId(eventId)
    // Known and unknown ids are mixed: this is not a repetition of one append.
    if (found === undefined) return first === undefined ? write : wrong
    first ??= found
    last = found
  }
  if (first === undefined || last === undefined) return write
  // EventStoreDB fails to build its reply here, because the revision range would be negative, and never sends one.
  if (last.revision < first.revision - 1n) return { kind: 'no_response' }
  return { kind: 'idempotent', place: last }
}

function decideBelowLast(
  view: StreamView,
  expected: bigint,
  eventIds: readonly string[],
  known: KnownEvents,
): Decision {
  let place: EventPlace | undefined
  for (const [index, eventId] of eventIds.entries()) {
    const found = known.atRevision(expected + 1n + BigInt(index))
    if (found?.eventId !== eventId) {
      return index === 0 && expected === expectNoStream && view.deletionMark !== undefined ? write : wrong
    }
    place = found
  }
  return place === undefined ? wrong : { kind: 'idempotent', place }
}

/** The position in the reply to an idempotent append; none when the event can no longer be read. */
export function returnedPosition(view: StreamView, place: EventPlace, nowTicks: bigint): bigint | undefined {
  if (view.tombstoned || place.revision < firstReadable(view)) return undefined
  return place.createdTicks >= oldestReadableTicks(view, nowTicks) ? place.position : undefined
}
