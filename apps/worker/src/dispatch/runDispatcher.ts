// Keeps one dispatcher running among all workers; the others stand by.
import { setTimeout as sleep } from 'node:timers/promises'
import { UnreadableEventError } from '@paylog/event-store/codec'
import type { EventStore } from '@paylog/event-store/eventStore'
import { runSubscription } from '@paylog/event-store/subscription'
import type { Logger } from '@paylog/runtime/log'
import { holdLock } from '@paylog/runtime/postgres'
import { type Dispatcher, webhookStreamPrefixes, webhookSubscription } from './dispatcher.ts'

/** Bodies are up to 1 MiB each, and the next batch gathers while one is handled. */
const maxBatch = 100
const lockRetryMs = 1_000

/**
 * Runs until the signal aborts: waits for the lock, subscribes, and begins again when the lock is lost.
 * @throws UnreadableEventError when the log holds an event that cannot be read
 */
export async function runDispatcher(options: {
  dispatcher: Dispatcher
  store: EventStore
  databaseUrl: string
  signal: AbortSignal
  log: Logger
}): Promise<void> {
  const { dispatcher, store, databaseUrl, signal, log } = options
  while (!signal.aborted) {
    try {
      const lock = await holdLock({ databaseUrl, name: 'webhooks-dispatcher', signal, log })
      try {
        await runSubscription({
          store,
          name: webhookSubscription,
          streamPrefixes: webhookStreamPrefixes,
          start: dispatcher.start,
          handle: dispatcher.handle,
          maxBatch,
          signal: AbortSignal.any([signal, lock.lost]),
          log,
        })
      } finally {
        await lock.release()
      }
    } catch (error) {
      if (error instanceof UnreadableEventError) throw error
      if (signal.aborted) return
      log.warn({ err: error }, 'could not become the dispatcher, trying again')
      await sleep(lockRetryMs, undefined, { signal }).catch(() => undefined)
    }
  }
}
