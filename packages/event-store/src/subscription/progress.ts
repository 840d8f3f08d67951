// Follows a subscription's progress: detects a silent one, batches a backlog, advances the checkpoint over other events.
import { setTimeout as sleep } from 'node:timers/promises'
import { isAfter, type LogPosition } from '@paylog/domain/events'
import type { Codec } from '../codec/codec.ts'
import type { Connection } from '../connection/connection.ts'
import type { BatchBuffer, EventBatch } from './batches.ts'
import type { Lag, LagLimits } from './lag.ts'

export type SubscriptionSource = {
  connect(): Connection
  /** The position that a healthy, idle subscription at `reached` must get to; nothing when it is up to date. */
  nextMatching(reached: LogPosition | undefined, prefixes: readonly string[]): Promise<LogPosition | undefined>
  /** The position that an idle subscription at `reached` may skip to, because no event up to there matches. */
  lastSkipped(reached: LogPosition | undefined, prefixes: readonly string[]): Promise<LogPosition | undefined>
  readonly decode: Codec['decode']
  readonly lagCheckMs: number
  /** Aborts when the store is closed. */
  readonly closing: AbortSignal
}

type LagSource = {
  head(): Promise<LogPosition | undefined>
  lag(position: LogPosition | undefined, prefixes: readonly string[], limits?: LagLimits): Promise<Lag>
}

/** The progress of a subscription. */
export type SubscriptionProgress = {
  /** The last event or checkpoint that arrived, or the start position. */
  reached: LogPosition | undefined
  /** Whether everything that arrived has been taken, so that the subscription waits for the server. */
  waiting: boolean
}

/** A connection can die unnoticed, and so can a subscription on a live connection. */
class SilentSubscriptionError extends Error {
  override readonly name = 'SilentSubscriptionError'
}

/**
 * Periodically reads the log for events that a healthy subscription would have received. An event that is missing at one
 * check may be on its way; one that is still missing at the next check is lost. A slow handler does not count as silence,
 * and neither do events of other streams.
 * @throws SilentSubscriptionError for a lost event; the signal's reason when it aborts
 */
export async function detectSilence(
  { nextMatching, lagCheckMs }: Pick<SubscriptionSource, 'nextMatching' | 'lagCheckMs'>,
  prefixes: readonly string[],
  progress: SubscriptionProgress,
  signal: AbortSignal,
): Promise<never> {
  let missing: LogPosition | undefined
  for (;;) {
    await sleep(lagCheckMs, undefined, { signal })
    // A failed read is no evidence against the subscription.
    const found = progress.waiting ? await nextMatching(progress.reached, prefixes).catch(() => undefined) : undefined
    // Compared after the read, so that everything that has arrived could be taken meanwhile.
    if (missing && found && progress.waiting && !hasReached(progress, missing)) {
      throw new SilentSubscriptionError(
        `No event arrived although the log continues to ${found.commit}/${found.prepare}`,
      )
    }
    missing = found
  }
}

function hasReached({ reached }: SubscriptionProgress, position: LogPosition): boolean {
  return reached !== undefined && !isAfter(position, reached)
}

const maxPosition = 2n ** 63n - 1n
/** After every real position. */
export const maxLogPosition: LogPosition = { commit: maxPosition, prepare: maxPosition }

/** A check that takes longer scans events of other streams. */
const checkTimeoutMs = 200

export type BacklogWatch = {
  /** Must be called for every batch that is taken: after a full one, the subscription may be behind again. */
  batchTaken(batch: EventBatch): void
}

/**
 * Makes the buffer collect full batches up to the current end of the log. Once that is reached and the log is more than a
 * batch ahead again, it does so up to the new end.
 */
export function watchBacklog(
  store: LagSource,
  prefixes: readonly string[],
  maxBatch: number,
  progress: Pick<SubscriptionProgress, 'reached'>,
  buffer: Pick<BatchBuffer, 'collectUntil' | 'isCollecting'>,
): BacklogWatch {
  let isChecking = false
  let wasBehind = true

  async function check(endOfLog: () => Promise<LogPosition | undefined>): Promise<void> {
    isChecking = true
    // After a failed read, batches are not delayed.
    const end = await endOfLog().catch(() => undefined)
    wasBehind = end !== undefined && (progress.reached === undefined || isAfter(end, progress.reached))
    buffer.collectUntil(wasBehind ? end : undefined)
    isChecking = false
  }

  async function endOfBacklog(): Promise<LogPosition | undefined> {
    const { isMore, end } = await store.lag(progress.reached, prefixes, {
      maxEvents: maxBatch,
      timeoutMs: checkTimeoutMs,
    })
    return isMore ? end : undefined
  }

  buffer.collectUntil(maxLogPosition)
  void check(() => store.head())
  return {
    batchTaken({ events }) {
      const isFull = events.length === maxBatch
      if (buffer.isCollecting() || !(isFull || wasBehind)) return
      // Most likely there is more, so keep collecting while the check runs.
      if (isFull) buffer.collectUntil(maxLogPosition)
      if (!isChecking) void check(endOfBacklog)
    },
  }
}

/**
 * Lets a subscription skip events of other streams on request. The server itself sends a checkpoint only once in 32 events
 * (the client's default).
 * @returns a function that reads the log and, if no matching event lies ahead, advances buffer and progress to its end, as
 *   a checkpoint of the server would. A request during a read causes another read, because the log may have grown.
 */
export function createCheckpointAdvance(
  { lastSkipped }: Pick<SubscriptionSource, 'lastSkipped'>,
  prefixes: readonly string[],
  progress: SubscriptionProgress,
  buffer: Pick<BatchBuffer, 'checkpoint'>,
): () => void {
  let state: 'idle' | 'reading' | 'requested again' = 'idle'

  async function advance(): Promise<void> {
    do {
      state = 'reading'
      // A subscription that is not waiting advances by itself soon; a failed read changes nothing.
      const position = progress.waiting
        ? await lastSkipped(progress.reached, prefixes).catch(() => undefined)
        : undefined
      // Events that arrived during the read may be further ahead.
      if (position !== undefined && (progress.reached === undefined || isAfter(position, progress.reached))) {
        buffer.checkpoint(position)
        progress.reached = position
      }
    } while (isRequestedAgain())
    state = 'idle'
  }

  // A function, because the compiler does not see that the state changes during the read.
  const isRequestedAgain = () => state === 'requested again'

  return () => {
    if (state === 'idle') void advance()
    else state = 'requested again'
  }
}
