// Notices a subscription that hears nothing any more although there is something to hear.
import { setTimeout as sleep } from 'node:timers/promises'
import { isAfter, type LogPosition } from '@paylog/domain/events'
import type { Codec } from '../codec/codec.ts'
import type { Connection } from '../connection/connection.ts'
import type { BatchBuffer, EventBatch } from './batches.ts'
import type { Lag, LagLimits } from './lag.ts'

export type SubscriptionSource = {
  connect(): Connection
  /** Up to where a healthy subscription that waits at `reached` must have come; nothing when it is where it should be. */
  nextMatching(reached: LogPosition | undefined, prefixes: readonly string[]): Promise<LogPosition | undefined>
  /** Up to where a subscription that waits at `reached` may go on, because nothing that far is for it. */
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

/** How far a subscription has got. */
export type SubscriptionProgress = {
  /** The last event or checkpoint that came, or where it began. */
  reached: LogPosition | undefined
  /** Whether everything that came was taken, so that the next word is the server's. */
  waiting: boolean
}

/** A connection can die without a word, and so can a subscription on one that lives. */
class SilentSubscriptionError extends Error {
  override readonly name = 'SilentSubscriptionError'
}

/**
 * Looks from time to time what a healthy subscription would have been told, in the log itself. What is missing at one look
 * may be on its way; what is still missing at the next one is not. A subscription whose handler is slow is not waiting, and
 * one that is behind the end of the log by events of others misses nothing.
 * @throws SilentSubscriptionError then; the signal's reason when it aborts
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
    // A store that cannot be read tells nothing about the subscription.
    const found = progress.waiting ? await nextMatching(progress.reached, prefixes).catch(() => undefined) : undefined
    // Looked at after the read, which gave everything that had already come the time to be taken.
    if (missing && found && progress.waiting && !hasReached(progress, missing)) {
      throw new SilentSubscriptionError(`Nothing came although the log goes on to ${found.commit}/${found.prepare}`)
    }
    missing = found
  }
}

function hasReached({ reached }: SubscriptionProgress, position: LogPosition): boolean {
  return reached !== undefined && !isAfter(position, reached)
}

// Whether a subscription is behind the end of the log, and so gathers full batches instead of handing out what is there.

const maxPosition = 2n ** 63n - 1n
/** No real position is larger. */
export const maxLogPosition: LogPosition = { commit: maxPosition, prepare: maxPosition }

/** A look that takes longer finds a log that is busy with others. */
const checkTimeoutMs = 200

export type BacklogWatch = {
  /** To be told of every batch that is taken: whoever takes a full one, or all that was known, may be behind again. */
  batchTaken(batch: EventBatch): void
}

/**
 * Lets the buffer gather up to the end of the log as it is now. When that is reached and the log is more than a batch ahead
 * again, up to its end as it is then.
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
    // A store that cannot be read tells nothing; then nothing is waited for.
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
      // Most likely there is more, and what comes while that is looked for need not come one by one.
      if (isFull) buffer.collectUntil(maxLogPosition)
      if (!isChecking) void check(endOfBacklog)
    },
  }
}

// Passing over what is not for a subscription, as soon as somebody asks. The server itself says only now and then that it
// has come further: with the client's defaults, once in 32 events.

/**
 * @returns looks in the log itself whether anything for these prefixes lies ahead; if not, the buffer and the progress go on
 *   to its end, as after a checkpoint of the server's. Asked while it looks, it looks once more: the log may have grown.
 */
export function createCheckpointAdvance(
  { lastSkipped }: Pick<SubscriptionSource, 'lastSkipped'>,
  prefixes: readonly string[],
  progress: SubscriptionProgress,
  buffer: Pick<BatchBuffer, 'checkpoint'>,
): () => void {
  let state: 'idle' | 'looking' | 'asked again' = 'idle'

  async function advance(): Promise<void> {
    do {
      state = 'looking'
      // A subscription that is still taking what came is told of more soon, and a store that cannot be read tells nothing.
      const position = progress.waiting
        ? await lastSkipped(progress.reached, prefixes).catch(() => undefined)
        : undefined
      // Events that came during the read lie behind all that it found.
      if (position !== undefined && (progress.reached === undefined || isAfter(position, progress.reached))) {
        buffer.checkpoint(position)
        progress.reached = position
      }
    } while (isRequestedAgain())
    state = 'idle'
  }

  // Behind a function, because the compiler does not see that the state changes while a look is awaited.
  const isRequestedAgain = () => state === 'asked again'

  return () => {
    if (state === 'idle') void advance()
    else state = 'asked again'
  }
}
