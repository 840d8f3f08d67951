// Reads a part of the log in order, up to where the log ended when the reading began.
import { setTimeout as sleep } from 'node:timers/promises'
import { isAfter, type LogPosition } from '@paylog/domain/logPosition'
import type { Recorded } from '../codec/codec.ts'
import type { Connection, Line } from '../connection/connection.ts'
import { NoAnswerError } from '../connection/failure.ts'
import { type Batch, type BatchBuffer, createBatchBuffer } from '../subscription/batches.ts'
import { openIntake } from '../subscription/intake.ts'
import type { Progress } from '../subscription/lagWatch.ts'
import { type EventLine, patiently, readDue, readHead } from './reading.ts'

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
export type LogSource = { readonly line: EventLine; readonly connect: () => Connection }

/** Events are up to 1 MiB each. */
const defaultMaxBatch = 100
/** A batch that is not full is handed out when this has passed since its first event: those of others may be all there is. */
const gatherMs = 1_000
const firstLookMs = 25
const longestLookMs = 500

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
export async function* readBatches(source: LogSource, range: BatchRange): AsyncGenerator<Batch, void> {
  const head = await readHead(source.line)
  if (head === undefined) return
  const { from, until } = range
  const end = until !== undefined && isAfter(head, until) ? until : head
  const reader = createReader(source, range, end)
  try {
    for (let reached = from; reached === undefined || isAfter(end, reached); ) {
      const after = reached
      const batch = await patiently(source.line, () => reader.next(after))
      yield batch
      reached = batch.position
    }
  } finally {
    await reader.close()
  }
}

type Reader = {
  /** The next events of the subscription there is, or of a new one that begins behind `after`. */
  next(after: LogPosition | undefined): Promise<Batch>
  close(): Promise<void>
}

function createReader(source: LogSource, range: BatchRange, end: LogPosition): Reader {
  let open: OpenReading | undefined
  const close = async () => {
    const closing = open
    open = undefined
    await closing?.close()
  }
  return {
    async next(after) {
      open ??= openReading(source, range, after, end)
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

type OpenReading = Pick<BatchBuffer, 'take'> & { close(): Promise<void> }

function openReading(
  { line, connect }: LogSource,
  { prefixes, maxBatch = defaultMaxBatch }: BatchRange,
  after: LogPosition | undefined,
  end: LogPosition,
): OpenReading {
  const progress: Progress = { reached: after, waiting: true }
  const buffer = createBatchBuffer(maxBatch, gatherMs)
  buffer.gather(end)
  const watch = (left: AbortSignal) => watchEnd(line, { prefixes, end, progress, buffer, signal: left })
  const { decode, closing: signal } = line
  const intake = openIntake({ connect, decode, prefixes, buffer, progress, until: end, watch, signal })
  return { take: buffer.take, close: intake.leave }
}

type Watched = {
  readonly prefixes: readonly string[]
  readonly end: LogPosition
  readonly progress: Progress
  readonly buffer: BatchBuffer
  readonly signal: AbortSignal
}

/**
 * A subscription does not say that there is nothing more up to the end, when the events there are of other streams. So
 * whenever nothing comes, the log itself is asked what there is to come.
 * @throws NoAnswerError when there is something and it does not come; the signal's reason when it aborts
 */
async function watchEnd(line: Line, { prefixes, end, progress, buffer, signal }: Watched): Promise<void> {
  const { readTimeoutMs } = line.timing
  let silentSince = performance.now()
  let heard = progress.reached
  for (let pauseMs = firstLookMs; ; pauseMs = Math.min(pauseMs * 2, longestLookMs)) {
    await sleep(pauseMs, undefined, { signal })
    if (!progress.waiting || progress.reached !== heard) {
      silentSince = performance.now()
      heard = progress.reached
      pauseMs = firstLookMs
      continue
    }
    if (performance.now() - silentSince > readTimeoutMs) throw new NoAnswerError('Read of the log', readTimeoutMs)
    if ((await readDue(line, heard, prefixes)) === undefined) return buffer.checkpoint(end)
  }
}
