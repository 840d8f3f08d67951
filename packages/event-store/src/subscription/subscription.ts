// A subscription that resumes from the last checkpoint after every kind of failure.
import { setTimeout as sleep } from 'node:timers/promises'
import { isAfter, type LogPosition } from '@paylog/domain/events'
import { UnreadableEventError } from '../codec/codec.ts'
import { withTimeout } from '../connection/errors.ts'
import type { EventStore } from '../eventStore.ts'
import { createBatchBuffer, type EventBatch } from './batches.ts'
import { openCatchUpSubscription } from './catchUpSubscription.ts'
import { createCheckpointAdvance, detectSilence, type SubscriptionProgress, watchBacklog } from './progress.ts'

/** The part of a logger that a subscription needs. */
export type SubscriptionLog = {
  info(detail: object, message: string): void
  warn(detail: object, message: string): void
}

export type SubscriptionOptions = {
  readonly store: EventStore
  readonly name: string
  readonly streamPrefixes: readonly string[]
  /** The stored checkpoint (exclusive start); undefined for the start of the log. */
  readonly start: () => Promise<LogPosition | undefined>
  /** Handles a batch and stores its checkpoint. An error is treated as transient: the batch is delivered again. */
  readonly handle: (batch: EventBatch) => Promise<void>
  /** Events per batch while the subscription is behind the end of the log. */
  readonly maxBatch: number
  /** Emits `awaited` when a caller waits for the checkpoint to reach the end of the log. */
  readonly awaited?: EventTarget
  /** Called with true when the server has confirmed the subscription, and with false when it ends. */
  readonly connected?: (isConnected: boolean) => void
  readonly signal: AbortSignal
  readonly log: SubscriptionLog
}

const firstPauseMs = 100
const maxPauseMs = 5_000
/** Longer than the retries of a read. */
const headTimeoutMs = 15_000
/** How long to wait for a full batch while behind: enough for 500 events, but short for their readers. */
const batchDelayMs = 200

/**
 * Runs until the signal aborts or the store is closed. After a lost connection, an ended or silent stream, a handler error
 * or a log that ends before the checkpoint, it subscribes again from `start()`, over a new connection, after a pause that
 * grows to 5 s.
 * @throws UnreadableEventError when the log holds an event that the codec cannot read: skipping it would corrupt state
 */
export async function runSubscription(options: SubscriptionOptions): Promise<void> {
  const { name, log } = options
  const signal = AbortSignal.any([options.signal, options.store.subscriptions.closing])
  let pauseMs = firstPauseMs
  while (!signal.aborted) {
    try {
      await subscribeOnce({ ...options, signal }, () => {
        pauseMs = firstPauseMs
      })
    } catch (error) {
      if (error instanceof UnreadableEventError) throw error
      if (signal.aborted) return
      log.warn(
        { err: error, subscription: name, pauseMs },
        'subscription interrupted, resuming from the last checkpoint',
      )
      await sleep(pauseMs, undefined, { signal }).catch(() => {})
      pauseMs = Math.min(pauseMs * 2, maxPauseMs)
    }
  }
}

async function subscribeOnce(options: SubscriptionOptions, progressed: () => void): Promise<void> {
  const { store, streamPrefixes, signal, maxBatch } = options
  const progress: SubscriptionProgress = { reached: await options.start(), waiting: true }
  await assertLogNotShorter(store, progress.reached, signal)
  const buffer = createBatchBuffer(maxBatch, batchDelayMs)
  const watch = (closed: AbortSignal) => detectSilence(store.subscriptions, streamPrefixes, progress, closed)
  const catchUp = openCatchUpSubscription({
    ...store.subscriptions,
    prefixes: streamPrefixes,
    buffer,
    progress,
    watch,
    signal,
  })
  const confirmed = () => options.connected?.(true)
  catchUp.subscription.once('confirmation', confirmed)
  const backlog = watchBacklog(store, streamPrefixes, maxBatch, progress, buffer)
  const advance = createCheckpointAdvance(store.subscriptions, streamPrefixes, progress, buffer)
  options.awaited?.addEventListener('awaited', advance, { signal: catchUp.closed })
  try {
    for (;;) {
      const batch = await buffer.take()
      backlog.batchTaken(batch)
      await options.handle(batch)
      progressed()
    }
  } finally {
    catchUp.subscription.off('confirmation', confirmed)
    options.connected?.(false)
    await catchUp.close()
  }
}

/**
 * Guards against a log that ends before the checkpoint, such as a restored backup or an empty log. Its new events would be
 * skipped as already handled, so nothing is handled until an operator has fixed it.
 */
async function assertLogNotShorter(
  store: Pick<EventStore, 'head'>,
  reached: LogPosition | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (reached === undefined) return
  const head = await withTimeout(store.head(), headTimeoutMs, 'Read of the end of the log', signal)
  if (head === undefined || isAfter(reached, head))
    throw new Error(
      `The log ends at ${head?.commit ?? 'its beginning'}, before the checkpoint ${reached.commit}: this is not the log that the checkpoint belongs to`,
    )
}
