// Reads decoded events of some streams in the order of the log, in batches.
import { isAfter, type LogCheckpoint, type LogPosition } from '@paylog/domain/events'
import { type Recorded, UnreadableEventError } from '../codec/codec.ts'
import type { Decoder, NeededParts } from '../codec/decoder.ts'
import type { CallContext } from '../connection/calls.ts'
import { isSystemStream, type RawEvent } from './rawEvent.ts'
import { type LogPage, type PagesRange, readPages } from './readPage.ts'
import { readLogEnds } from './reads.ts'

export type ReadContext = CallContext & Decoder

/** Events in log order; everything up to `position` is in this batch or an earlier one. `events` may be empty. */
export type EventBatch<Event = Recorded> = { readonly events: readonly Event[]; readonly position: LogCheckpoint }

/** Makes batches of raw events. @param end everything up to there is in the events or in earlier ones */
export type Batching<Event> = (
  raw: readonly RawEvent[],
  end?: LogCheckpoint,
) => Iterable<EventBatch<Event>> | AsyncIterable<EventBatch<Event>>

export type LogRange = {
  /** Prefixes of the wanted streams. */
  readonly prefixes: readonly string[]
  /** Exclusive start; the start of the log when undefined. */
  readonly from?: LogPosition | undefined
}

export type BatchRange = LogRange & {
  /** Inclusive end; never after the end of the log at the start of the read. */
  readonly until?: LogCheckpoint | undefined
  /** See `Decoder`. */
  readonly opens?: NeededParts
  /** Events per batch, as long as there are more. At most three times as many are in memory. */
  readonly maxBatch?: number
}

/** An event may have up to 1 MiB. */
const defaultMaxBatch = 100

/**
 * The events up to the end that the log has when it is reached.
 * @throws DomainError `event_store_unavailable`, and the errors of `batching`
 */
export async function* readToEnd<Event>(
  context: CallContext,
  range: PagesRange,
  batching: Batching<Event>,
): AsyncGenerator<EventBatch<Event>, void> {
  for await (const page of readPages(context, range)) yield* batching(page.events, endOf(page))
}

/** One batch, as recorded. */
export function* rawBatch(
  events: readonly RawEvent[],
  position: LogCheckpoint | undefined = events.at(-1)?.position,
): Generator<EventBatch<RawEvent>, void> {
  if (position !== undefined) yield { events, position }
}

/**
 * One batch. Events before an unreadable one are returned first.
 * @param end everything up to there is in the batch or an earlier one
 * @throws UnreadableEventError
 */
export async function* decodedBatch(
  decoder: Decoder,
  raw: readonly RawEvent[],
  end: LogCheckpoint | undefined = raw.at(-1)?.position,
  opens?: NeededParts,
): AsyncGenerator<EventBatch, void> {
  const events: Recorded[] = []
  let unreadable: UnreadableEventError | undefined
  for (const decoded of await decoder.decode(raw, opens)) {
    if (decoded instanceof UnreadableEventError) unreadable = decoded
    else events.push(decoded)
    if (unreadable !== undefined) break
  }
  const position = unreadable === undefined ? end : events.at(-1)?.position
  if (position !== undefined) yield { events, position }
  if (unreadable !== undefined) throw unreadable
}

/** A checkpoint names no system event. */
function endOf({ events, last }: LogPage): LogCheckpoint | undefined {
  const end = last === undefined || isSystemStream(last.stream) ? events.at(-1) : last
  return end?.position
}

/**
 * The events up to where the log ends when the read begins.
 * @returns batches, the last one at the position where the read ends, even if another stream's event is there; none
 *   when there is no event in the range, not even of other streams
 * @throws UnreadableEventError, DomainError `event_store_unavailable`
 */
export async function* readBatches(context: ReadContext, range: BatchRange): AsyncGenerator<EventBatch, void> {
  const { checkpoint: head } = await readLogEnds(context)
  if (head === undefined) return
  const { prefixes, from, until, opens, maxBatch = defaultMaxBatch } = range
  const end = until !== undefined && isAfter(head, until) ? until : head
  if (from !== undefined && !isAfter(end, from)) return
  const pages = { after: from, filter: { streamPrefixes: prefixes }, maxEvents: maxBatch }
  for await (const page of readPages(context, pages)) {
    const isBefore = page.last === undefined || isAfter(end, page.last.position)
    // Later events may be unreadable.
    const events = isBefore ? page.events : page.events.filter(({ position }) => !isAfter(position, end))
    yield* decodedBatch(context, events, isBefore ? endOf(page) : end, opens)
    if (!isBefore) return
  }
  yield { events: [], position: end }
}
