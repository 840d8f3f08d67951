// Keeps one reader of the log running among all workers; the others stand by.
import { setTimeout as sleep } from 'node:timers/promises'
import { UnreadableEventError } from '@paylog/event-store/codec'
import { runSubscription, type SubscriptionOptions } from '@paylog/event-store/subscription'
import type { Logger } from '@paylog/runtime/log'
import { holdLock } from '@paylog/runtime/postgres'

/** What the worker reads of the log. */
const streamPrefixes = ['payment-', 'providerEvent-', 'webhookTest-']
/** Bodies are up to 1 MiB each, and the next batch gathers while one is handled. */
const maxBatch = 100
const lockRetryMs = 1_000

/**
 * Runs until the signal aborts: waits for the lock, subscribes, and begins again when the lock is lost.
 * @throws UnreadableEventError when the log holds an event that cannot be read
 */
export async function runSoleSubscription(
  options: Pick<SubscriptionOptions, 'store' | 'name' | 'start' | 'handle' | 'signal'> & {
    /** The name of the lock that its runner holds. */
    readonly lock: string
    readonly databaseUrl: string
    readonly log: Logger
  },
): Promise<void> {
  const { lock: lockName, databaseUrl, signal, log, ...subscription } = options
  while (!signal.aborted) {
    try {
      const lock = await holdLock({ databaseUrl, name: lockName, signal, log })
      try {
        const held = AbortSignal.any([signal, lock.lost])
        await runSubscription({ ...subscription, streamPrefixes, maxBatch, signal: held, log })
      } finally {
        await lock.release()
      }
    } catch (error) {
      if (error instanceof UnreadableEventError) throw error
      if (signal.aborted) return
      log.warn({ err: error, lock: lockName }, 'could not become the reader of the log, trying again')
      await sleep(lockRetryMs, undefined, { signal }).catch(() => undefined)
    }
  }
}
