// Runs a log subscription in one worker at a time, while the others stand by, and checks that it makes progress.

import { isAfter, type LogPosition } from '@paylog/domain/events'
import { UnreadableEventError } from '@paylog/event-store/codec/codec'
import type { EventStore } from '@paylog/event-store/eventStore'
import { type FollowOptions, LogMismatchError } from '@paylog/event-store/follow/followLog'
import { anySignal } from '@paylog/runtime/anySignal'
import { holdLock } from '@paylog/runtime/postgres/lock'
import type { CheckDetails } from '@paylog/runtime/process/health'
import { keepRunning } from '@paylog/runtime/process/keepRunning'
import type { Logger } from '@paylog/runtime/telemetry/log'
import type { Pool } from 'pg'
import { readCheckpoint } from './checkpoint.ts'

/** The streams that workers subscribe to. */
export const streamPrefixes: readonly string[] = ['payment-', 'providerEvent-', 'webhookTest-', 'erasure-']

type ReaderState = {
  /** Whether another worker reads the log and this one waits to take over. */
  isStandingBy: boolean
  /** Whether the log can be read. */
  isConnected: boolean
  /** Why nothing is handled until an operator has decided: the log is not the checkpoint's. */
  stoppedBecause: string | undefined
}

/** Where to start and how to handle a batch. `handle` throws StaleCheckpointError when another process took over. */
export type LogReader = Pick<FollowOptions, 'start' | 'handle'>

type ReaderOptions = LogReader & {
  /** The subscription, whose checkpoint it moves. */
  readonly name: string
  /** The Postgres lock that the active reader holds. */
  readonly lock: string
  readonly pool: Pool
  readonly databaseUrl: string
  readonly store: EventStore
  readonly now: () => Date
  readonly signal: AbortSignal
  readonly log: Logger
}

/**
 * Runs a subscription until the signal aborts: waits for the lock, subscribes, and starts again when the lock is lost. While the
 * log is not the checkpoint's, it handles nothing and looks again every second.
 * @returns `reading` ends after the signal aborts, and rejects with UnreadableEventError when the log contains an event that cannot
 *   be decoded; `readerCheck` is for readiness
 */
export function startReader(options: ReaderOptions): {
  readonly reading: Promise<void>
  readonly readerCheck: () => Promise<CheckDetails>
} {
  const state: ReaderState = { isStandingBy: false, isConnected: false, stoppedBecause: undefined }
  return { reading: runExclusively(options, state), readerCheck: createReaderCheck(options, state) }
}

/** Longer than detecting and replacing a connection that hangs while the log is quiet. */
const maxStuckMs = 15_000

/**
 * The subscription is connected and handles new events. A hanging connection looks like a quiet log, so the check also reads
 * the log. A standby is ready.
 */
function createReaderCheck({ name, pool, store, now }: ReaderOptions, state: ReaderState): () => Promise<CheckDetails> {
  let waiting: { readonly until: LogPosition; readonly since: number } | undefined

  return async () => {
    if (state.isStandingBy) return { role: 'standing by' }
    // The reason names an event and belongs in the log.
    if (state.stoppedBecause !== undefined) return { ok: false, role: 'reader', stopped: true }
    if (!state.isConnected) return { ok: false, role: 'reader', connected: false }
    const reached = await readCheckpoint(pool, name)
    const due = (await store.lag(reached, streamPrefixes, { maxEvents: 1 })).first?.position
    const isReached = (position: LogPosition) => reached !== undefined && !isAfter(position, reached)
    if (due === undefined) waiting = undefined
    else if (waiting === undefined || isReached(waiting.until)) waiting = { until: due, since: now().getTime() }
    const stuckMs = waiting === undefined ? 0 : now().getTime() - waiting.since
    const details = { role: 'reader', connected: true, waiting_seconds: Math.round(stuckMs / 1_000) }
    return stuckMs > maxStuckMs ? { ok: false, ...details } : details
  }
}

/** Bodies have up to 1 MiB each, and the next batch is collected while one is handled. */
const maxBatch = 100
const lockRetryMs = 1_000
const remedy =
  'check that EVENTSTORE_URL names the right event store, and run "ops audit verify"; docs/operations.md, "The log is not that of Postgres"'

async function runExclusively(options: ReaderOptions, state: ReaderState): Promise<void> {
  const { name, start, handle, lock: lockName, databaseUrl, store, signal, log } = options
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
      const held = anySignal(signal, lock.lost)
      await store.follow({ name, start, handle, streamPrefixes, maxBatch, connected, signal: held, log })
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
        log.fatal({ err: error, subscription: name, action: remedy }, 'the worker has stopped')
      else log.warn({ err: error, lock: lockName }, 'the log subscription failed, trying again')
    },
  })
}
