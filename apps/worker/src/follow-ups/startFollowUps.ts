// Wires the follow-ups: one of all workers keeps the list, and every worker works it off.

import { createReaderCheck, type ReaderState } from '@paylog/deliveries/subscriptions/readerState'
import { runSoleSubscription } from '@paylog/deliveries/subscriptions/soleSubscription'
import type { EventStore } from '@paylog/event-store/eventStore'
import type { Provider } from '@paylog/providers/provider'
import type { CheckDetails } from '@paylog/runtime/process/health'
import type { Logger } from '@paylog/runtime/telemetry/log'
import type { Pool } from 'pg'
import { createFollowUpReader, followUpSubscription } from './followUpReader.ts'
import { createFollowUps } from './followUps.ts'
import { createFollowUpWork } from './followUpWork.ts'
import { createSweeper } from './sweeper.ts'

/** Longer than a worker may be busy with itself; a killed one's entries wait so long for another. */
const leaseMs = 30_000
const renewMs = 10_000

/**
 * Starts both. Fails at once when the tables are not there.
 * @returns `reading` and `sweeping` end after the signal aborts; `reading` rejects when the log cannot be read, `sweeping`
 *   when something had to be given up;
 *   `readerCheck` is for readiness
 */
export async function startFollowUps(options: {
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
  readonly sweeping: Promise<void>
  readonly readerCheck: () => Promise<CheckDetails>
}> {
  const { pool, databaseUrl, store, providers, reconcileAfterMs, now, signal, givingUp, log } = options
  const followUps = createFollowUps(pool, { leaseMs })
  for (const waiting of await followUps.waiting([...providers.keys()]))
    log.warn(waiting, 'follow-ups wait for a provider that is not enabled')
  const work = createFollowUpWork({ workflow: { store, providers, now }, reconcileAfterMs, log })
  const sweeper = createSweeper({ followUps, providers, work, renewMs, now, log })
  const rules = { providers, reconcileAfterMs }
  const reader = createFollowUpReader({ followUps, rules, now, dueNow: sweeper.wake })
  const subscription = { name: followUpSubscription, lock: followUpSubscription, ...reader }
  const state: ReaderState = { isStandingBy: false, isConnected: false }
  const checkpoint = () => followUps.checkpoint(followUpSubscription)
  const sweeping = sweeper.run(signal, givingUp)
  // It may have something to say before its turn in the stop comes.
  sweeping.catch(() => undefined)
  return {
    reading: runSoleSubscription({ ...subscription, store, databaseUrl, state, signal, log }),
    sweeping,
    readerCheck: createReaderCheck({ state, store, checkpoint, now }),
  }
}
