// Reads of streams and of the log, with retries that cover a restart of the store.
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type AllStreamRecordedEvent,
  type AllStreamResolvedEvent,
  BACKWARDS,
  END,
  type EventStoreDBClient,
  FORWARDS,
  NoStreamError,
  type ResolvedEvent,
  START,
  type StreamingRead,
  StreamNotFoundError,
} from '@eventstore/db-client'
import { isAfter, type LogPosition } from '@paylog/domain/events'
import { type Codec, type Recorded, UnreadableEventError } from '../codec/codec.ts'
import type { ConnectionContext } from '../connection/connection.ts'
import { isPermanentError, ResponseTimeoutError, unreadableLogError } from '../connection/errors.ts'
import type { StreamName } from '../streamName.ts'

export type ReadContext = ConnectionContext & Pick<Codec, 'decode'>

export type ReadRange =
  | { readonly from?: bigint; readonly limit?: number }
  /** This many events from the stream's end. */
  | { readonly last: number }

/** Many times the number of events that a filtered subscription skips between checkpoints. */
const maxSkippedEvents = 1_000

/**
 * Reads a stream's events in order; none for a stream that does not exist.
 * @throws UnreadableEventError, DomainError `event_store_unavailable`
 */
export function readStream(context: ReadContext, stream: StreamName, range: ReadRange): Promise<Recorded[]> {
  const isFromEnd = 'last' in range
  const open = (client: EventStoreDBClient) =>
    isFromEnd
      ? client.readStream(stream, { direction: BACKWARDS, fromRevision: END, maxCount: range.last })
      : client.readStream(stream, {
          direction: FORWARDS,
          fromRevision: range.from ?? START,
          ...(range.limit === undefined ? {} : { maxCount: range.limit }),
        })
  return withRetries(context, async () => {
    const events: Recorded[] = []
    try {
      for await (const event of eventsOf(context, `Read of ${stream}`, open)) {
        events.push(context.decode(event, event.position ?? unknownPosition))
      }
      return isFromEnd ? events.reverse() : events
    } catch (error) {
      if (error instanceof StreamNotFoundError || error instanceof NoStreamError) return []
      throw error
    }
  })
}

/** Stores before version 22.6 do not return positions in stream reads. */
const unknownPosition: LogPosition = { commit: 0n, prepare: 0n }

/** The position of the last event in the log, system events included. */
export function readLogHead(context: ConnectionContext): Promise<LogPosition | undefined> {
  const open = (client: EventStoreDBClient) => client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 })
  return withRetries(context, async () => {
    for await (const event of eventsOf(context, 'Read of the end of the log', open)) return event.position
    return undefined
  })
}

/**
 * The position of the last event before this one, system events included; a read after it starts with the event at
 * `position`. Only positions of events are known to be safe to read from.
 */
export function readPositionBefore(
  context: ConnectionContext,
  position: LogPosition,
): Promise<LogPosition | undefined> {
  const open = (client: EventStoreDBClient) =>
    client.readAll({ direction: BACKWARDS, fromPosition: position, maxCount: 2 })
  return withRetries(context, async () => {
    for await (const event of eventsOf(context, 'Read of the log', open)) {
      if (isAfter(position, event.position)) return event.position
    }
    return undefined
  })
}

/**
 * The position that a healthy, idle subscription at `reached` must get to: the next matching event, or an event after so
 * many others that the server must have sent a checkpoint. Nothing when there is neither.
 */
export function readNextMatching(
  context: ConnectionContext,
  reached: LogPosition | undefined,
  prefixes: readonly string[],
): Promise<LogPosition | undefined> {
  return withRetries(context, async () => {
    let skipped = 0
    for await (const { streamId, position } of eventsAfter(context, reached)) {
      skipped++
      if (skipped === maxSkippedEvents || prefixes.some((prefix) => streamId.startsWith(prefix))) return position
    }
    return undefined
  })
}

/**
 * The position that an idle subscription at `reached` may skip to: the end of the log, if no event up to there matches.
 * Nothing when one does, or when it is at the end already.
 */
export function readLastSkipped(
  context: ConnectionContext,
  reached: LogPosition | undefined,
  prefixes: readonly string[],
): Promise<LogPosition | undefined> {
  return withRetries(context, async () => {
    let skipped: LogPosition | undefined
    for await (const { streamId, position } of eventsAfter(context, reached)) {
      if (prefixes.some((prefix) => streamId.startsWith(prefix))) return undefined
      skipped = position
    }
    return skipped
  })
}

/** The next events of the log, of all streams, up to the limit. */
async function* eventsAfter(
  context: ConnectionContext,
  reached: LogPosition | undefined,
): AsyncGenerator<AllStreamRecordedEvent> {
  const open = (client: EventStoreDBClient) =>
    client.readAll({ direction: FORWARDS, fromPosition: reached ?? START, maxCount: maxSkippedEvents + 1 })
  for await (const event of eventsOf(context, 'Read of the log', open)) {
    // A read of the log starts with the event at its position.
    if (reached === undefined || isAfter(event.position, reached)) yield event
  }
}

/** The events of one read. It fails when no event arrives in time, and is cancelled when the caller stops early. */
async function* eventsOf<Resolved extends ResolvedEvent | AllStreamResolvedEvent>(
  { connection, timing, closing }: ConnectionContext,
  operation: string,
  open: (client: EventStoreDBClient) => StreamingRead<Resolved>,
): AsyncGenerator<NonNullable<Resolved['event']>> {
  const client = connection.current()
  const reading = open(client)
  const silence = setTimeout(() => {
    reading.destroy(new ResponseTimeoutError(operation, timing.readTimeoutMs))
    connection.replace(client)
  }, timing.readTimeoutMs)
  const close = () => reading.destroy(new Error('The event store was closed'))
  closing.addEventListener('abort', close)
  try {
    for await (const { event } of reading.iterator({ destroyOnReturn: false })) {
      silence.refresh()
      if (event) yield event
    }
  } finally {
    clearTimeout(silence)
    closing.removeEventListener('abort', close)
    // A call with unread messages never ends, and the client (6.2.1) keeps every call until its end. Without `resume`, an
    // abandoned call would stay in memory for the life of the process.
    reading.on('error', () => {}).resume()
    // Not awaited: the call may not even have started when no cluster member responds.
    void reading.cancel().catch(() => {})
  }
}

/**
 * Repeats a failing read for `readRetryTimeoutMs`.
 * @throws UnreadableEventError, DomainError `event_store_unavailable`
 */
export async function withRetries<T>({ timing, closing }: ConnectionContext, read: () => Promise<T>): Promise<T> {
  const giveUpAt = Date.now() + timing.readRetryTimeoutMs
  for (let pauseMs = 25; ; pauseMs = Math.min(pauseMs * 2, 1_000)) {
    try {
      return await read()
    } catch (error) {
      if (error instanceof UnreadableEventError) throw error
      if (closing.aborted || isPermanentError(error) || Date.now() + pauseMs > giveUpAt) throw unreadableLogError(error)
      await sleep(pauseMs, undefined, { signal: closing }).catch(() => {})
    }
  }
}
