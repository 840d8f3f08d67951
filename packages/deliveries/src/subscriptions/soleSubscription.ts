// Keeps one reader of the log running among all workers; the others stand by.
import { UnreadableEventError } from '@paylog/event-store/codec/codec'
import { runSubscription, type SubscriptionOptions } from '@paylog/event-store/subscription/subscription'
import { holdLock } from '@paylog/runtime/postgres/postgres'
import { keepRunning } from '@paylog/runtime/process/keepRunning'
import type { Logger } from '@paylog/runtime/telemetry/log'
import type { ReaderState } from './readerState.ts'
import { streamPrefixes } from './streamPrefixes.ts'

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
