// A subscription that never gives up: it resumes from the last durable position after every kind of failure.
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
  /** The last position that is durably handled (exclusive start), or nothing to begin at the start of the log. */
  readonly start: () => Promise<LogPosition | undefined>
  /** Handles a batch durably, checkpoint included. A throw is taken for a passing fault. */
  readonly handle: (batch: EventBatch) => Promise<void>
  /** While the subscription is behind the end of the log, batches have as many events as this. */
  readonly maxBatch: number
  /** Its event `awaited` says that somebody waits for the end of the log, whether there is something to handle or not. */
  readonly awaited?: EventTarget
  /** Told true when the store has begun to send, and false when that ended. */
  readonly connected?: (isConnected: boolean) => void
  readonly signal: AbortSignal
  readonly log: SubscriptionLog
}

const firstPauseMs = 100
const maxPauseMs = 5_000
/** Longer than a read is repeated for by itself. */
const headTimeoutMs = 15_000
/** How long a full batch is waited for while behind: long enough for 500 events, and short for whoever waits for them. */
const batchDelayMs = 200

/**
 * Runs until the signal aborts or the store is closed. A lost connection, an ended or a silent stream or a handler that
 * throws leads to a new subscription from `start()`, over a new connection, after a pause that grows to 5 s; so does a log
 * that ends before the checkpoint.
 * @throws UnreadableEventError when the log holds an event that the codec cannot read: going on would be a lie.
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
  const watch = (left: AbortSignal) => detectSilence(store.subscriptions, streamPrefixes, progress, left)
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
 * A log that ends before what was handled of it is another one: restored from an older backup, or made anew. What it records
 * from now on would be taken for handled already, so nothing of it is handled until somebody has decided what to do.
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
      `The log ends at ${head?.commit ?? 'its beginning'}, before the checkpoint ${reached.commit}: it is not the log that was handled`,
    )
}
