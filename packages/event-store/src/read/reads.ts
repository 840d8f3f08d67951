// Reading what is recorded, patiently: a store that restarts is back within seconds.
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

/** What reading events takes: a line, and what makes events of what is recorded. */
export type ReadContext = ConnectionContext & Pick<Codec, 'decode'>

export type ReadRange =
  | { readonly from?: bigint; readonly limit?: number }
  /** So many from the stream's end. */
  | { readonly last: number }

/** Many times what a subscription to a part of the log may pass over without sending a checkpoint. */
const maxSkippedEvents = 1_000

/**
 * A stream's events in order; none for a stream that does not exist.
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

/** Stands for the position of an event that a store from before version 22.6 does not tell in streams. */
const unknownPosition: LogPosition = { commit: 0n, prepare: 0n }

/** The position of the log's last event, whatever it is. */
export function readLogHead(context: ConnectionContext): Promise<LogPosition | undefined> {
  const open = (client: EventStoreDBClient) => client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 })
  return withRetries(context, async () => {
    for await (const event of eventsOf(context, 'Read of the end of the log', open)) return event.position
    return undefined
  })
}

/**
 * The position of the last event before this one, whatever it is; what is read from there begins with the event at
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
 * How far a subscription to these prefixes must have got that is healthy and waits for more at `reached`: to the first
 * event after it that matches, or that comes after so many others that there must have been a checkpoint.
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
 * How far a subscription to these prefixes that waits at `reached` may go on without being told: to the end of the log, if
 * nothing up to there is for it. Nothing when something is, or when it is at the end.
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

/** The next events of the log, whosever they are, as many as count. */
async function* eventsAfter(
  context: ConnectionContext,
  reached: LogPosition | undefined,
): AsyncGenerator<AllStreamRecordedEvent> {
  const open = (client: EventStoreDBClient) =>
    client.readAll({ direction: FORWARDS, fromPosition: reached ?? START, maxCount: maxSkippedEvents + 1 })
  for await (const event of eventsOf(context, 'Read of the log', open)) {
    // A read of the log begins with the event at its start.
    if (reached === undefined || isAfter(event.position, reached)) yield event
  }
}

/** The events of one reading, which fails when it goes silent and is cancelled when it is left. */
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
    // A call whose messages nobody reads never ends, and the client (6.2.1) keeps every call until its end: one that is left
    // early would stay in memory for as long as the process lives. How it ends concerns nobody any more.
    reading.on('error', () => {}).resume()
    // Not waited for: the call may not even have begun, when no member of a cluster answers.
    void reading.cancel().catch(() => {})
  }
}

/**
 * Repeats a reading that fails, for as long as a store that restarts may need.
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
