// Wires the follow-ups: one of all workers keeps the list, and every worker works it off.

import { createReaderCheck, type ReaderState } from '@paylog/deliveries/subscriptions/readerState'
import { runExclusiveSubscription } from '@paylog/deliveries/subscriptions/soleSubscription'
import type { EventStore } from '@paylog/event-store/eventStore'
import type { Provider } from '@paylog/providers/provider'
import type { CheckDetails } from '@paylog/runtime/process/health'
import type { Logger } from '@paylog/runtime/telemetry/log'
import type { Pool } from 'pg'
import { createReconcilePlanner, reconcilerSubscription } from './followUpReader.ts'
import { createReconcileTasks } from './followUps.ts'
import { createReconcileTaskHandler } from './followUpWork.ts'
import { createReconciler } from './sweeper.ts'

/** Longer than a worker may be busy with itself; a killed one's entries wait so long for another. */
const leaseMs = 30_000
const leaseRenewMs = 10_000

/**
 * Starts both. Fails at once when the tables are not there.
 * @returns `reading` and `sweeping` end after the signal aborts; `reading` rejects when the log cannot be read, `sweeping`
 *   when something had to be given up;
 *   `readerCheck` is for readiness
 */
export async function startReconciler(options: {
  readonly pool: Pool
  readonly databaseUrl: string
  readonly store: EventStore
  readonly providers: ReadonlyMap<string, Provider>
  readonly reconcileAfterMs: number
  readonly now: () => Date
  readonly signal: AbortSignal
  /** Aborts when a stop waits no longer for what is under way. */
  readonly givingUp: AbortSignal
  readonly log: Logger
}): Promise<{
  readonly reading: Promise<void>
  readonly reconciling: Promise<void>
  readonly readerCheck: () => Promise<CheckDetails>
}> {
  const { pool, databaseUrl, store, providers, reconcileAfterMs, now, signal, givingUp, log } = options
  const followUps = createReconcileTasks(pool, { leaseMs })
  for (const waiting of await followUps.waiting([...providers.keys()]))
    log.warn(waiting, 'follow-ups wait for a provider that is not enabled')
  const work = createReconcileTaskHandler({ workflow: { store, providers, now }, reconcileAfterMs, log })
  const reconciler = createReconciler({ followUps, providers, work, renewMs: leaseRenewMs, now, log })
  const rules = { providers, reconcileAfterMs }
  const reader = createReconcilePlanner({ followUps, rules, now, dueNow: reconciler.wake })
  const subscription = { name: reconcilerSubscription, lock: reconcilerSubscription, ...reader }
  const state: ReaderState = { isStandingBy: false, isConnected: false }
  const checkpoint = () => followUps.checkpoint(reconcilerSubscription)
  const reconciling = reconciler.run(signal, givingUp)
  // It may have something to say before its turn in the stop comes.
  reconciling.catch(() => undefined)
  return {
    reading: runExclusiveSubscription({ ...subscription, store, databaseUrl, state, signal, log }),
    sweeping: reconciling,
    readerCheck: createReaderCheck({ state, store, checkpoint, now }),
  }
}
