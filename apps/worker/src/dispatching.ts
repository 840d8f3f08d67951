// Starts the subscription that creates deliveries from the log and empties them at erasures.
import { createDispatcher } from '@paylog/deliveries/dispatch/dispatcher'
import { decidedCheckpoint, webhookSubscription } from '@paylog/deliveries/subscriptions/checkpoint'
import {
  createReaderCheck,
  runExclusiveSubscription,
  startingReader,
  streamPrefixes,
} from '@paylog/deliveries/subscriptions/exclusiveSubscription'
import type { EventStore } from '@paylog/event-store/eventStore'
import type { CheckDetails } from '@paylog/runtime/process/health'
import type { Logger } from '@paylog/runtime/telemetry/log'
import type { Pool } from 'pg'

/**
 * @returns `dispatching` ends after the signal aborts, and rejects when the log cannot be read; `readerCheck` is for readiness
 * @throws when the tables are missing
 */
export async function startDispatching(
  options: Parameters<typeof createDispatcher>[0] & {
    readonly pool: Pool
    readonly databaseUrl: string
    readonly store: EventStore
    readonly signal: AbortSignal
    readonly log: Logger
  },
): Promise<{ readonly dispatching: Promise<void>; readonly readerCheck: () => Promise<CheckDetails> }> {
  const { pool, databaseUrl, store, deliveries, now, signal, log } = options
  const dispatcher = createDispatcher(options)
  // Fails at start-up, not in the background, when the tables are missing.
  await dispatcher.start()
  const { handle } = dispatcher
  const start = async () => {
    await decidedCheckpoint({ pool, store }, streamPrefixes)
    return await dispatcher.start()
  }
  // Before the app is ready, so that in a new system no payment comes first. The subscription reports what goes wrong.
  await start().catch(() => undefined)
  const state = startingReader()
  const subscription = { name: webhookSubscription, lock: 'webhooks-dispatcher', start, handle, state }
  const checkpoint = () => deliveries.checkpoint(webhookSubscription)
  return {
    dispatching: runExclusiveSubscription({ ...subscription, store, databaseUrl, signal, log }),
    readerCheck: createReaderCheck({ state, store, checkpoint, now }),
  }
}
