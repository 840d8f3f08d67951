// Reads of streams, and of single places of the log.
import type { ReadReq } from '@eventstore/db-client/generated/streams_pb.js'
import { Metadata, status } from '@grpc/grpc-js'
import type { LogCheckpoint, LogPosition } from '@paylog/domain/events'
import { type CallContext, call } from '../connection/calls.ts'
import { isSystemStream, type RawEvent } from './rawEvent.ts'
import { collectPage, type RawPage, readPage, readPagesBackwards } from './readPage.ts'
import { logRead, streamRead } from './requests.ts'

export type ReadRange =
  | { readonly from?: bigint; readonly limit?: number }
  /** This many events from the stream's end. */
  | { readonly last: number }

const streamPageEvents = 2_000

/** A stream's events in order; none for a stream that does not exist. @throws the context's failure */
export async function readStreamEvents(context: CallContext, stream: string, range: ReadRange): Promise<RawEvent[]> {
  if ('last' in range) return (await readPage(context, streamRead(stream, 'end', range.last, true))).events.toReversed()
  const { from = 0n, limit = Number.POSITIVE_INFINITY } = range
  const events: RawEvent[] = []
  for (;;) {
    const next = (events.at(-1)?.revision ?? from - 1n) + 1n
    const page = await readPage(context, streamRead(stream, next, Math.min(limit - events.length, streamPageEvents)))
    events.push(...page.events)
    if (page.isLast || events.length >= limit) return events
  }
}

/** The log's last event, system events included. */
export async function readLogEnd(context: CallContext): Promise<RawEvent | undefined> {
  const { events } = await readPage(context, logRead('end', 1, { backwards: true }))
  return events[0]
}

/** @returns a function that reads the ends once for all callers that come while the read is in progress */
export function sharedLogEnds(context: CallContext): () => Promise<LogEnds> {
  let reading: Promise<LogEnds> | undefined
  return () => {
    reading ??= readLogEnds(context).finally(() => {
      reading = undefined
    })
    return reading
  }
}

/** How many system events may follow the last event of ours before a checkpoint no longer advances past them. */
const maxSystemEvents = 32

export type LogEnds = { readonly end: RawEvent | undefined; readonly checkpoint: LogCheckpoint | undefined }

/**
 * The log's last event, and the last one that is no system event: a scavenge may remove system events, so a checkpoint
 * names none. It is undefined when only system events are found.
 */
export async function readLogEnds(context: CallContext): Promise<LogEnds> {
  const end = await readLogEnd(context)
  if (end === undefined) return { end, checkpoint: undefined }
  if (!isSystemStream(end.stream)) return { end, checkpoint: end.position }
  const { events } = await readPage(context, logRead('end', maxSystemEvents, { backwards: true }))
  const own = events.find(({ stream }) => !isSystemStream(stream))
  return { end: events[0], checkpoint: own?.position }
}

/** The event at exactly this position; nothing when the log has none there. */
async function readEventAt(context: CallContext, position: LogPosition): Promise<RawEvent | undefined> {
  const { events } = await readPageUnless(context, logRead(position, 1), isNoPosition)
  return events.find((event) => event.position.commit === position.commit)
}

/**
 * How EventStoreDB and KurrentDB say that no event begins at a position (`ReadAllResult` and `InvalidPositionException` in
 * their source). Nothing else means that: a node that does not lead answers NOT_FOUND, or UNKNOWN without a leader.
 */
const noPosition = [
  { code: status.UNKNOWN, text: 'Unexpected ReadAllResult: InvalidPosition' },
  { code: status.INVALID_ARGUMENT, text: 'Trying to read from an invalid position' },
]

const isNoPosition = (error: unknown) =>
  error instanceof Error &&
  'code' in error &&
  noPosition.some(({ code, text }) => error.code === code && error.message.includes(text))

/** A page without events when the server's error says that there are none. @throws the context's failure */
function readPageUnless(
  context: CallContext,
  request: ReadReq,
  saysNone: (error: unknown) => boolean,
): Promise<RawPage> {
  const collect = collectPage(context, request)
  return call(context, (...attempt) =>
    collect(...attempt).catch((error: unknown): RawPage => {
      if (!saysNone(error)) throw error
      return { events: [], isLast: true }
    }),
  )
}

/**
 * A checkpoint at the last event of ours before a position, or at the end of the log; undefined when there is none. What is
 * read after it starts with the first event of ours at or after the position.
 */
export async function readCheckpointBefore(
  context: CallContext,
  position: LogPosition | undefined,
): Promise<LogCheckpoint | undefined> {
  for await (const events of readPagesBackwards(context, position, maxSystemEvents)) {
    const own = events.find((event) => !isSystemStream(event.stream))
    if (own !== undefined) return own.position
  }
  return undefined
}

/**
 * The event at a checkpoint's position. Before it counts as another one or missing, it is looked for twice, on two
 * connections.
 */
export async function findCheckpoint(context: CallContext, checkpoint: LogCheckpoint): Promise<RawEvent | undefined> {
  const found = await readEventAt(context, checkpoint)
  if (found?.id === checkpoint.eventId) return found
  await context.connection.renew()
  return await readEventAt(context, checkpoint)
}

/** Whether the checkpoint's event is in this log, at its position. */
export async function isInLog(context: CallContext, checkpoint: LogCheckpoint): Promise<boolean> {
  return (await findCheckpoint(context, checkpoint))?.id === checkpoint.eventId
}

/**
 * Some events of a stream, without those hidden by its metadata; none for a stream that does not exist or was deleted.
 * @param from the first revision
 * @throws the context's failure
 */
export const readStreamPage = (context: CallContext, stream: string, from: bigint, count: number): Promise<RawPage> =>
  readPageUnless(context, streamRead(stream, from, count), isStreamDeleted)

function isStreamDeleted(error: unknown): boolean {
  const trailers = error instanceof Error && 'metadata' in error ? error.metadata : undefined
  return trailers instanceof Metadata && trailers.get('exception')[0] === 'stream-deleted'
}
