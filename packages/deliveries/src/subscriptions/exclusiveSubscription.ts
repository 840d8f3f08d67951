// What the worker reads of the log.
import { isAfter, type LogPosition } from '@paylog/domain/events'
import { UnreadableEventError } from '@paylog/event-store/codec/codec'
import type { EventStore } from '@paylog/event-store/eventStore'
import { runSubscription, type SubscriptionOptions } from '@paylog/event-store/subscription/subscription'
import { holdLock } from '@paylog/runtime/postgres/postgres'
import type { CheckDetails } from '@paylog/runtime/process/health'
import { keepRunning } from '@paylog/runtime/process/keepRunning'
import type { Logger } from '@paylog/runtime/telemetry/log'

export const streamPrefixes: readonly string[] = ['payment-', 'providerEvent-', 'webhookTest-']

// What a reader of the log does at the moment, for those who ask whether it can be relied on.

export type ReaderState = {
  /** Whether another worker reads, as far as is known, and this one waits to take over. */
  isStandingBy: boolean
  /** Whether the event store has begun to send. */
  isConnected: boolean
}

/** Longer than it takes to notice, and to replace, a connection that went silent while the log was quiet. */
const patienceMs = 15_000

/**
 * A check for readiness: the reader is connected, and what the log holds for it gets handled. A connection that was cut
 * off without a word looks like a quiet one, so the log itself is asked. Standing by is ready.
 *
 * @param options `checkpoint` is how far the log is handled
 */
export function createReaderCheck(options: {
  readonly state: ReaderState
  readonly store: Pick<EventStore, 'subscriptions'>
  readonly checkpoint: () => Promise<LogPosition | undefined>
  readonly now: () => Date
}): () => Promise<CheckDetails> {
  const { state, store, checkpoint, now } = options
  let waiting: { readonly until: LogPosition; readonly since: number } | undefined

  return async () => {
    if (state.isStandingBy) return { role: 'standing by' }
    if (!state.isConnected) return { ok: false, role: 'reader', connected: false }
    const reached = await checkpoint()
    const due = await store.subscriptions.nextMatching(reached, streamPrefixes)
    const has = (position: LogPosition) => reached !== undefined && !isAfter(position, reached)
    if (due === undefined) waiting = undefined
    else if (waiting === undefined || has(waiting.until)) waiting = { until: due, since: now().getTime() }
    const stuckMs = waiting === undefined ? 0 : now().getTime() - waiting.since
    const details = { role: 'reader', connected: true, waiting_seconds: Math.round(stuckMs / 1_000) }
    return stuckMs > patienceMs ? { ok: false, ...details } : details
  }
}

// Keeps one reader of the log running among all workers; the others stand by.

/** Where to go on, and what to do; `handle` throws StaleCheckpointError when another runner took over. */
export type LogReader = Pick<SubscriptionOptions, 'start' | 'handle'>

/** Bodies are up to 1 MiB each, and the next batch gathers while one is handled. */
const maxBatch = 100
const lockRetryMs = 1_000

/**
 * Runs until the signal aborts: waits for the lock, subscribes, and begins again when the lock is lost.
 * @throws UnreadableEventError when the log holds an event that cannot be read
 */
export async function runExclusiveSubscription(
  options: LogReader &
    Pick<SubscriptionOptions, 'store' | 'name' | 'signal'> & {
      /** The name of the lock that its runner holds. */
      readonly lock: string
      readonly databaseUrl: string
      /** Kept up to date, for those who look at it. */
      readonly state: ReaderState
      readonly log: Logger
    },
): Promise<void> {
  const { lock: lockName, databaseUrl, state, signal, log, ...subscription } = options
  const connected = (isConnected: boolean) => {
    state.isConnected = isConnected
  }
  const waiting = () => {
    state.isStandingBy = true
  }
  const read = async () => {
    const lock = await holdLock({ databaseUrl, name: lockName, onWaiting: waiting, signal, log }).finally(() => {
      state.isStandingBy = false
    })
    try {
      const held = AbortSignal.any([signal, lock.lost])
      await runSubscription({ ...subscription, streamPrefixes, maxBatch, connected, signal: held, log })
    } finally {
      await lock.release()
    }
  }
  await keepRunning(read, {
    signal,
    pauseMs: lockRetryMs,
    isFinal: (error) => error instanceof UnreadableEventError,
    onError: (error) =>
      log.warn({ err: error, lock: lockName }, 'could not become the reader of the log, trying again'),
  })
}
