// Reads a part of the log in order, up to where the log ended when the reading began.
import { setTimeout as sleep } from 'node:timers/promises'
import { isAfter, type LogPosition } from '@paylog/domain/events'
import type { Recorded } from '../codec/codec.ts'
import type { Connection, ConnectionContext } from '../connection/connection.ts'
import { ResponseTimeoutError } from '../connection/errors.ts'
import { type BatchBuffer, createBatchBuffer, type EventBatch } from '../subscription/batches.ts'
import { openCatchUpSubscription } from '../subscription/catchUpSubscription.ts'
import type { SubscriptionProgress } from '../subscription/progress.ts'
import { type ReadContext, readLogHead, readNextMatching, withRetries } from './reads.ts'

export type LogRange = {
  /** The wanted streams' names begin with one of these. */
  readonly prefixes: readonly string[]
  /** Events after this position are read; without it, from the start of the log. */
  readonly from?: LogPosition | undefined
  /** Events up to this position are read, itself included; never beyond the log's end as it is now. */
  readonly until?: LogPosition | undefined
}

export type BatchRange = LogRange & {
  /** How many events a batch has, as long as there are more. Three times as many are in memory at most. */
  readonly maxBatch?: number
}

/** What reading the log needs: short calls, and a connection of its own for the long one. */
export type LogSource = { readonly context: ReadContext; readonly connect: () => Connection }

/** Events are up to 1 MiB each. */
const defaultMaxBatch = 100
/** A batch that is not full is handed out when this has passed since its first event: those of others may be all there is. */
const batchDelayMs = 1_000
const firstPollMs = 25
const maxPollMs = 500

/**
 * The events of these streams, in the order of the log.
 * @throws UnreadableEventError, DomainError `event_store_unavailable`
 */
export async function* readLog(source: LogSource, range: LogRange): AsyncGenerator<Recorded> {
  for await (const { events } of readBatches(source, range)) yield* events
}

/**
 * The events of these streams in batches. The server leaves out the others: it is a subscription that ends where the log
 * ended at the beginning. One that is cut off goes on behind the last batch, as patiently as other reads.
 * @returns batches of which the last one has the position where the reading ends, whoever's event is there; none when there
 *   is nothing to read, not even of others
 * @throws UnreadableEventError, DomainError `event_store_unavailable`
 */
export async function* readBatches(source: LogSource, range: BatchRange): AsyncGenerator<EventBatch, void> {
  const head = await readLogHead(source.context)
  if (head === undefined) return
  const { from, until } = range
  const end = until !== undefined && isAfter(head, until) ? until : head
  const reader = createBatchReader(source, range, end)
  try {
    for (let reached = from; reached === undefined || isAfter(end, reached); ) {
      const after = reached
      const batch = await withRetries(source.context, () => reader.next(after))
      yield batch
      reached = batch.position
    }
  } finally {
    await reader.close()
  }
}

type BatchReader = {
  /** The next events of the subscription there is, or of a new one that begins behind `after`. */
  next(after: LogPosition | undefined): Promise<EventBatch>
  close(): Promise<void>
}

function createBatchReader(source: LogSource, range: BatchRange, end: LogPosition): BatchReader {
  let open: OpenRead | undefined
  const close = async () => {
    const closing = open
    open = undefined
    await closing?.close()
  }
  return {
    async next(after) {
      open ??= openRead(source, range, after, end)
      try {
        return await open.take()
      } catch (error) {
        await close()
        throw error
      }
    },
    close,
  }
}

type OpenRead = Pick<BatchBuffer, 'take'> & { close(): Promise<void> }

function openRead(
  { context, connect }: LogSource,
  { prefixes, maxBatch = defaultMaxBatch }: BatchRange,
  after: LogPosition | undefined,
  end: LogPosition,
): OpenRead {
  const progress: SubscriptionProgress = { reached: after, waiting: true }
  const buffer = createBatchBuffer(maxBatch, batchDelayMs)
  buffer.collectUntil(end)
  const watch = (left: AbortSignal) => watchEnd(context, { prefixes, end, progress, buffer, signal: left })
  const { decode, closing: signal } = context
  const intake = openCatchUpSubscription({ connect, decode, prefixes, buffer, progress, until: end, watch, signal })
  return { take: buffer.take, close: intake.close }
}

type EndWatch = {
  readonly prefixes: readonly string[]
  readonly end: LogPosition
  readonly progress: SubscriptionProgress
  readonly buffer: BatchBuffer
  readonly signal: AbortSignal
}

/**
 * A subscription does not say that there is nothing more up to the end, when the events there are of other streams. So
 * whenever nothing comes, the log itself is asked what there is to come.
 * @throws NoAnswerError when there is something and it does not come; the signal's reason when it aborts
 */
async function watchEnd(
  context: ConnectionContext,
  { prefixes, end, progress, buffer, signal }: EndWatch,
): Promise<void> {
  const { readTimeoutMs } = context.timing
  let silentSince = performance.now()
  let lastReached = progress.reached
  for (let pauseMs = firstPollMs; ; pauseMs = Math.min(pauseMs * 2, maxPollMs)) {
    await sleep(pauseMs, undefined, { signal })
    if (!progress.waiting || progress.reached !== lastReached) {
      silentSince = performance.now()
      lastReached = progress.reached
      pauseMs = firstPollMs
      continue
    }
    if (performance.now() - silentSince > readTimeoutMs)
      throw new ResponseTimeoutError('Read of the log', readTimeoutMs)
    if ((await readNextMatching(context, lastReached, prefixes)) === undefined) return buffer.checkpoint(end)
  }
}
