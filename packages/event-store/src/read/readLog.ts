// Reads a part of the log in order, up to where the log ended when the read began.
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
  /** Prefixes of the wanted streams. */
  readonly prefixes: readonly string[]
  /** Exclusive start; the start of the log when undefined. */
  readonly from?: LogPosition | undefined
  /** Inclusive end; never after the end of the log at the start of the read. */
  readonly until?: LogPosition | undefined
}

export type BatchRange = LogRange & {
  /** Events per batch, as long as there are more. At most three times as many are in memory. */
  readonly maxBatch?: number
}

/** Context for short calls, and a separate connection for the subscription. */
export type LogSource = { readonly context: ReadContext; readonly connect: () => Connection }

/** An event may have up to 1 MiB. */
const defaultMaxBatch = 100
/** A partial batch is returned this long after its first event, because the rest of the log may be other streams. */
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
 * The events of these streams in batches. It uses a subscription, so that the server filters, and ends where the log
 * ended when the read began. An interrupted subscription resumes after the last batch, with the retries of other reads.
 * @returns batches, the last one at the position where the read ends, even if another stream's event is there; none
 *   when there is no event in the range, not even of other streams
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
  /** The next events of the open subscription, or of a new one that starts after `after`. */
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
  const watch = (closed: AbortSignal) => watchEnd(context, { prefixes, end, progress, buffer, signal: closed })
  const { decode, closing: signal } = context
  const subscription = openCatchUpSubscription({
    connect,
    decode,
    prefixes,
    buffer,
    progress,
    until: end,
    watch,
    signal,
  })
  return { take: buffer.take, close: subscription.close }
}

type EndWatch = {
  readonly prefixes: readonly string[]
  readonly end: LogPosition
  readonly progress: SubscriptionProgress
  readonly buffer: BatchBuffer
  readonly signal: AbortSignal
}

/**
 * Detects the end of the read. A subscription does not report that only events of other streams are left, so whenever no
 * event arrives, this reads the log for the next matching one.
 * @throws ResponseTimeoutError when there is one and it does not arrive; the signal's reason when it aborts
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
