// Runs a log subscription in one worker at a time, while the others stand by, and checks that it makes progress.
import { isAfter, type LogPosition } from '@paylog/domain/events'
import { UnreadableEventError } from '@paylog/event-store/codec/codec'
import type { EventStore } from '@paylog/event-store/eventStore'
import { type FollowOptions, LogMismatchError } from '@paylog/event-store/follow/followLog'
import { holdLock } from '@paylog/runtime/postgres/lock'
import type { CheckDetails } from '@paylog/runtime/process/health'
import { keepRunning } from '@paylog/runtime/process/keepRunning'
import type { Logger } from '@paylog/runtime/telemetry/log'

/** The streams that workers subscribe to. */
export const streamPrefixes: readonly string[] = ['payment-', 'providerEvent-', 'webhookTest-', 'erasure-']

export type ReaderState = {
  /** Whether another worker reads the log and this one waits to take over. */
  isStandingBy: boolean
  /** Whether the log can be read. */
  isConnected: boolean
  /** Why nothing is handled until an operator has decided: the log is not the checkpoint's. */
  stoppedBecause: string | undefined
}

export const startingReader = (): ReaderState => ({
  isStandingBy: false,
  isConnected: false,
  stoppedBecause: undefined,
})

/** Longer than detecting and replacing a connection that hangs while the log is quiet. */
const maxStuckMs = 15_000

/**
 * Readiness check: the subscription is connected and handles new events. A hanging connection looks like a quiet log, so
 * the check also reads the log. A standby is ready.
 *
 * @param options `checkpoint` reads the position up to which the log is handled
 */
export function createReaderCheck(options: {
  readonly state: ReaderState
  readonly store: Pick<EventStore, 'lag'>
  readonly checkpoint: () => Promise<LogPosition | undefined>
  readonly now: () => Date
}): () => Promise<CheckDetails> {
  const { state, store, checkpoint, now } = options
  let waiting: { readonly until: LogPosition; readonly since: number } | undefined

  return async () => {
    if (state.isStandingBy) return { role: 'standing by' }
    // The reason names an event and belongs in the log.
    if (state.stoppedBecause !== undefined) return { ok: false, role: 'reader', stopped: true }
    if (!state.isConnected) return { ok: false, role: 'reader', connected: false }
    const reached = await checkpoint()
    const due = (await store.lag(reached, streamPrefixes, { maxEvents: 1 })).first?.position
    const isReached = (position: LogPosition) => reached !== undefined && !isAfter(position, reached)
    if (due === undefined) waiting = undefined
    else if (waiting === undefined || isReached(waiting.until)) waiting = { until: due, since: now().getTime() }
    const stuckMs = waiting === undefined ? 0 : now().getTime() - waiting.since
    const details = { role: 'reader', connected: true, waiting_seconds: Math.round(stuckMs / 1_000) }
    return stuckMs > maxStuckMs ? { ok: false, ...details } : details
  }
}

/** Where to start and how to handle a batch. `handle` throws StaleCheckpointError when another process took over. */
export type LogReader = Pick<FollowOptions, 'start' | 'handle'>

/** Bodies have up to 1 MiB each, and the next batch is collected while one is handled. */
const maxBatch = 100
const lockRetryMs = 1_000
const remedy = '"ops webhooks start" decides where to go on; see docs/operations.md'

/**
 * Runs until the signal aborts: waits for the lock, subscribes, and starts again when the lock is lost. While the log is not
 * the checkpoint's, it handles nothing and looks again every second.
 * @throws UnreadableEventError when the log contains an event that cannot be decoded
 */
export async function runExclusiveSubscription(
  options: LogReader &
    Pick<FollowOptions, 'name' | 'signal'> & {
      readonly store: EventStore
      /** The Postgres lock that the active reader holds. */
      readonly lock: string
      readonly databaseUrl: string
      /** Updated in place, for readiness checks. */
      readonly state: ReaderState
      readonly log: Logger
    },
): Promise<void> {
  const { lock: lockName, databaseUrl, store, state, signal, log, ...subscription } = options
  const connected = (isConnected: boolean) => {
    state.isConnected = isConnected
    if (isConnected) state.stoppedBecause = undefined
  }
  const waiting = () => {
    state.isStandingBy = true
    state.stoppedBecause = undefined
  }
  const read = async () => {
    const lock = await holdLock({ databaseUrl, name: lockName, onWaiting: waiting, signal, log }).finally(() => {
      state.isStandingBy = false
    })
    try {
      const held = AbortSignal.any([signal, lock.lost])
      await store.follow({ ...subscription, streamPrefixes, maxBatch, connected, signal: held, log })
    } catch (error) {
      if (error instanceof LogMismatchError) state.stoppedBecause = error.message
      throw error
    } finally {
      await lock.release()
    }
  }
  await keepRunning(read, {
    signal,
    pauseMs: lockRetryMs,
    isFinal: (error) => error instanceof UnreadableEventError,
    onError(error) {
      if (error instanceof LogMismatchError)
        log.fatal({ err: error, subscription: subscription.name, action: remedy }, 'the worker has stopped')
      else log.warn({ err: error, lock: lockName }, 'the log subscription failed, trying again')
    },
  })
}
