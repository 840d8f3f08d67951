// From the log to the worker's list: plans each batch and records it with its position.

import { setTimeout as sleep } from 'node:timers/promises'
import {
  createReaderCheck,
  type LogReader,
  type ReaderState,
  runExclusiveSubscription,
} from '@paylog/deliveries/subscriptions/exclusiveSubscription'
import type { LogPosition } from '@paylog/domain/events'
import type { EventStore } from '@paylog/event-store/eventStore'
import type { Provider } from '@paylog/providers/provider'
import type { CheckDetails } from '@paylog/runtime/process/health'
import type { Logger } from '@paylog/runtime/telemetry/log'
import type { Pool } from 'pg'
import { type PlanRules, planOf } from './plan.ts'
import { createReconcileTasks, type ReconcileTask, type ReconcileTasks } from './reconcileTasks.ts'
import { createReconcileTaskHandler, type ReconcileTaskHandler } from './taskHandler.ts'

export const reconcilerSubscription = 'follow-ups'

/** @param deps `dueNow` is called when something became due that does not wait */
export function createReconcilePlanner(deps: {
  readonly followUps: Pick<ReconcileTasks, 'checkpoint' | 'record'>
  readonly rules: PlanRules
  readonly now: () => Date
  readonly dueNow: () => void
}): LogReader {
  const { followUps, rules, now, dueNow } = deps
  let position: LogPosition | undefined
  return {
    async start() {
      position = await followUps.checkpoint(reconcilerSubscription)
      return position
    },
    async handle({ events, position: to }) {
      const planned = events.flatMap((event) => {
        const plan = planOf(event, rules)
        return plan ? [{ event, plan }] : []
      })
      await followUps.record({ name: reconcilerSubscription, from: position, to, planned, at: now() })
      position = to
      if (planned.some(({ plan }) => plan.ask)) dueNow()
    },
  }
}

// Works off the list: each provider has a lane of its own, so that one which does not answer delays nobody else's.

/** Follow-ups of one provider that this process works on at a time. */
const laneWidth = 8
/** What becomes due by time, or was put on the list by another process, is found within this. */
const pollMs = 1_000
/** As many of what a stop gave up are named. */
const maxNamed = 20

export type Reconciler = {
  /** Looks at once, because something became due. */
  wake(): void
  /**
   * Runs until the signal aborts, and finishes what is under way, until it is given up: then it goes to another worker when
   * its lease runs out.
   * @throws when something was given up
   */
  run(signal: AbortSignal, givingUp: AbortSignal): Promise<void>
}

export function createReconciler(deps: {
  readonly followUps: Pick<ReconcileTasks, 'take' | 'renew' | 'giveBack'>
  readonly providers: ReadonlyMap<string, Provider>
  readonly work: ReconcileTaskHandler
  /** How often leases are renewed. */
  readonly renewMs: number
  readonly now: () => Date
  readonly log: Logger
}): Reconciler {
  const { followUps, providers, work, renewMs, now, log } = deps
  const underWay = new Map<ReconcileTask, Promise<void>>()
  /** One per lane; rung by its abort. */
  const wakeSignals = new Map<string, AbortController>()

  function wake(): void {
    for (const bell of wakeSignals.values()) bell.abort()
  }

  async function runLane(provider: Provider, signal: AbortSignal): Promise<void> {
    const mine = new Set<ReconcileTask>()
    while (!signal.aborted) {
      // Hung up before the look, so that what becomes due meanwhile leads to another one.
      const bell = new AbortController()
      wakeSignals.set(provider.id, bell)
      const free = laneWidth - mine.size
      try {
        const taken = free > 0 ? await followUps.take(provider.id, now(), free) : []
        for (const followUp of taken) {
          const ended = () => {
            mine.delete(followUp)
            underWay.delete(followUp)
            wakeSignals.get(provider.id)?.abort()
          }
          mine.add(followUp)
          underWay.set(followUp, doWork(followUp, provider).finally(ended))
        }
      } catch (error) {
        log.warn({ err: error, provider_id: provider.id }, 'could not take what is due, trying again')
      }
      if (!signal.aborted) await sleep(pollMs, undefined, { signal: bell.signal }).catch(() => undefined)
    }
  }

  async function doWork(followUp: ReconcileTask, provider: Provider): Promise<void> {
    try {
      await followUps.giveBack(followUp, await work(followUp, provider))
    } catch (error) {
      const { subject, correlation_id: correlationId, event_id: causationId } = followUp
      log.warn(
        { err: error, subject, correlationId, causationId },
        'could not give a follow-up back, its lease will run out',
      )
    }
  }

  async function renew(): Promise<void> {
    if (underWay.size === 0) return
    await followUps.renew([...underWay.keys()]).catch((error: unknown) => {
      log.warn({ err: error, leases: underWay.size }, 'could not renew the leases')
    })
  }

  return {
    wake,
    async run(signal, givingUp) {
      signal.addEventListener('abort', wake, { once: true })
      const renewal = setInterval(renew, renewMs)
      await Promise.all([...providers.values()].map((provider) => runLane(provider, signal)))
      await Promise.race([Promise.all(underWay.values()), aborted(givingUp)])
      clearInterval(renewal)
      const given = [...underWay.keys()].map(({ subject }) => subject)
      if (given.length > 0)
        throw new Error(
          `${given.length} follow-ups did not end before the stop: ${given.slice(0, maxNamed).join(', ')}`,
        )
    },
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

// Wires the follow-ups: one of all workers keeps the list, and every worker works it off.

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
    reconciling: reconciling,
    readerCheck: createReaderCheck({ state, store, checkpoint, now }),
  }
}
