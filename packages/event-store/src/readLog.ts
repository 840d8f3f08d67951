// Reads a part of the log in order, up to where the log ended when the reading began.
import { setTimeout as sleep } from 'node:timers/promises'
import type { AllStreamResolvedEvent } from '@eventstore/db-client'
import { type Batch, type BatchBuffer, createBatchBuffer } from './batches.ts'
import { isAfter, type LogPosition, type Recorded } from './codec.ts'
import type { Connection, Line } from './connection.ts'
import { NoAnswerError } from './failure.ts'
import type { Progress } from './lagWatch.ts'
import { patiently, readDue, readHead } from './reading.ts'
import { type Checkpoint, leave, subscribe, take } from './subscription.ts'

export type LogRange = {
  /** The wanted streams' names begin with one of these. */
  readonly prefixes: readonly string[]
  /** Events after this position are read; without it, from the start of the log. */
  readonly from?: LogPosition | undefined
  /** Events up to this position are read, itself included; never beyond the log's end as it is now. */
  readonly until?: LogPosition | undefined
}

/** What reading the log needs: short calls, and a connection of its own for the long one. */
export type LogSource = { readonly line: Line; readonly connect: () => Connection }

/** Events are up to 1 MiB each; three times as many are in memory while the reader is slower than the server. */
const maxBatch = 100
const firstLookMs = 25
const longestLookMs = 500

/**
 * The events of these streams, in the order of the log. The server leaves out the others: it is a subscription that ends
 * where the log ended at the beginning. One that is cut off goes on behind the last event, as patiently as other reads.
 * @throws UnreadableEventError, DomainError `event_store_unavailable`
 */
export async function* readLog(source: LogSource, { prefixes, from, until }: LogRange): AsyncGenerator<Recorded> {
  const head = await readHead(source.line)
  if (head === undefined) return
  const end = until !== undefined && isAfter(head, until) ? until : head
  const reader = createReader(source, prefixes, end)
  try {
    for (let reached = from; reached === undefined || isAfter(end, reached); ) {
      const after = reached
      const { events, position } = await patiently(source.line, () => reader.next(after))
      yield* events
      reached = position
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

function createReader(source: LogSource, prefixes: readonly string[], end: LogPosition): Reader {
  let open: OpenReading | undefined
  const close = async () => {
    const closing = open
    open = undefined
    await closing?.close()
  }
  return {
    async next(after) {
      open ??= openReading(source, prefixes, after, end)
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
  prefixes: readonly string[],
  after: LogPosition | undefined,
  end: LogPosition,
): OpenReading {
  const { closing } = line
  const progress: Progress = { reached: after, waiting: true }
  const buffer = createBatchBuffer(maxBatch)
  const connection = connect()
  const subscription = subscribe(connection, after, prefixes)
  const left = new AbortController()
  const closed = () => buffer.end(closing.reason)
  closing.addEventListener('abort', closed)
  if (closing.aborted) closed()
  const taking = take(upTo(end, subscription), buffer, progress).catch(buffer.end)
  // Not waited for in the end: it may be reading, and what it finds out then is nobody's concern.
  void watchEnd(line, { prefixes, end, progress, buffer, signal: left.signal }).catch(buffer.end)
  return {
    take: buffer.take,
    async close() {
      closing.removeEventListener('abort', closed)
      left.abort()
      buffer.end(new Error('The reading was left'))
      await leave(connection, subscription)
      await taking
    },
  }
}

/** What comes up to the end, and the end itself as soon as something lies beyond it. */
async function* upTo(end: LogPosition, items: AsyncIterable<AllStreamResolvedEvent | Checkpoint>) {
  for await (const item of items) {
    if ('event' in item && item.event && isAfter(item.event.position, end)) {
      const checkpoint: Checkpoint = { checkpoint: end }
      yield checkpoint
      return
    }
    yield item
  }
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
