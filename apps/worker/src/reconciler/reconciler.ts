// The reconciler: one worker keeps the list of follow-ups up to date with the log, and every worker handles its entries.

import { setTimeout as sleep } from 'node:timers/promises'
import type { LogCheckpoint } from '@paylog/domain/events'
import type { EventStore } from '@paylog/event-store/eventStore'
import type { Provider } from '@paylog/providers/provider'
import type { Logger } from '@paylog/runtime/telemetry/log'
import { followUpsSubscription } from '@paylog/webhooks/deliveries/subscriptions/checkpoint'
import { type LogReader, startReader } from '@paylog/webhooks/deliveries/subscriptions/exclusiveSubscription'
import type { Pool } from 'pg'
import type { TrustedClock } from '../trustedClock.ts'
import { createFollowUpHandler, type FollowUpHandler } from './followUpHandler.ts'
import { createFollowUps, type FollowUp, type FollowUps, secretChangesOf } from './followUps.ts'
import { type PlanRules, planOf } from './plan.ts'

/** @param deps `dueNow` is called when a follow-up is due at once */
export function createReconcilePlanner(deps: {
  readonly followUps: Pick<FollowUps, 'checkpoint' | 'record'>
  readonly rules: PlanRules
  readonly now: () => Date
  readonly dueNow: () => void
}): LogReader {
  const { followUps, rules, now, dueNow } = deps
  let position: LogCheckpoint | undefined
  return {
    async start() {
      position = await followUps.checkpoint()
      return position
    },
    async handle({ events, position: to }) {
      const planned = events.flatMap((event) => {
        const plan = planOf(event, rules)
        return plan ? [{ event, plan }] : []
      })
      const secrets = secretChangesOf(events)
      await followUps.record({ name: followUpsSubscription, from: position, to, planned, secrets, at: now() })
      position = to
      if (planned.some(({ plan }) => plan.ask)) dueNow()
    },
  }
}

/** How many follow-ups of one provider this process handles concurrently. Providers do not delay each other. */
const concurrencyPerProvider = 8
/** How often due follow-ups are looked for, including those of other processes. */
const pollMs = 1_000
/** At most this many abandoned follow-ups are listed in the error. */
const maxListed = 20

export type Reconciler = {
  /** Looks for due follow-ups at once. */
  wake(): void
  /**
   * Runs until the signal aborts, then waits for follow-ups in progress until `givingUp` aborts. Abandoned ones go to another
   * worker when their lease expires.
   * @throws when follow-ups were abandoned
   */
  run(signal: AbortSignal, givingUp: AbortSignal): Promise<void>
  /** The subjects of the follow-ups in progress. */
  underWay(): readonly string[]
}

export function createReconciler(deps: {
  readonly followUps: Pick<FollowUps, 'take' | 'renew' | 'giveBack'>
  readonly providers: ReadonlyMap<string, Provider>
  readonly work: FollowUpHandler
  /** Lease renewal interval. */
  readonly renewMs: number
  readonly clock: Pick<TrustedClock, 'isWaiting'>
  readonly now: () => Date
  readonly log: Logger
}): Reconciler {
  const { followUps, providers, work, renewMs, clock, now, log } = deps
  const underWay = new Map<FollowUp, Promise<void>>()
  /** One per provider; its abort ends the pause. */
  const wakeSignals = new Map<string, AbortController>()

  function wake(): void {
    for (const wakeSignal of wakeSignals.values()) wakeSignal.abort()
  }

  async function runProvider(provider: Provider, signal: AbortSignal): Promise<void> {
    const active = new Set<FollowUp>()
    while (!signal.aborted) {
      // Created before the look, so that a wake during the look leads to another one.
      const wakeSignal = new AbortController()
      wakeSignals.set(provider.id, wakeSignal)
      const free = concurrencyPerProvider - active.size
      try {
        const taken = free > 0 ? await followUps.take(provider.id, now(), free, !clock.isWaiting(provider)) : []
        for (const followUp of taken) {
          const ended = () => {
            active.delete(followUp)
            underWay.delete(followUp)
            wakeSignals.get(provider.id)?.abort()
          }
          active.add(followUp)
          underWay.set(followUp, handleFollowUp(followUp, provider).finally(ended))
        }
      } catch (error) {
        log.warn({ err: error, provider_id: provider.id }, 'could not take due follow-ups, trying again')
      }
      if (!signal.aborted) await sleep(pollMs, undefined, { signal: wakeSignal.signal }).catch(() => undefined)
    }
  }

  async function handleFollowUp(followUp: FollowUp, provider: Provider): Promise<void> {
    try {
      await followUps.giveBack(followUp, await work(followUp, provider))
    } catch (error) {
      const { subject, correlation_id: correlationId, event_id: causationId } = followUp
      log.warn(
        { err: error, subject, correlationId, causationId },
        'could not return a follow-up, its lease will expire',
      )
    }
  }

  async function renew(): Promise<void> {
    if (underWay.size === 0) return
    await followUps.renew([...underWay.keys()]).catch((error: unknown) => {
      log.warn({ err: error, leases: underWay.size }, 'could not renew leases')
    })
  }

  const subjects = () => [...underWay.keys()].map(({ subject }) => subject)

  return {
    wake,
    underWay: subjects,
    async run(signal, givingUp) {
      signal.addEventListener('abort', wake, { once: true })
      const renewal = setInterval(renew, renewMs)
      await Promise.all([...providers.values()].map((provider) => runProvider(provider, signal)))
      await Promise.race([Promise.all(underWay.values()), aborted(givingUp)])
      clearInterval(renewal)
      const abandoned = subjects()
      if (abandoned.length > 0)
        throw new Error(
          `${abandoned.length} follow-ups did not end before the stop: ${abandoned.slice(0, maxListed).join(', ')}`,
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

/** Longer than a worker's event loop may block. Follow-ups of a killed worker wait this long. */
const leaseMs = 30_000
const leaseRenewMs = 10_000

/**
 * Starts the planner and the reconciler. Fails at once when the tables are missing.
 * @returns of the planner as from `startReader`; `reconciling` ends after the signal aborts, and rejects when follow-ups were
 *   abandoned; `underWay` names those in progress
 */
export async function startReconciler(options: {
  readonly pool: Pool
  readonly databaseUrl: string
  readonly store: EventStore
  readonly providers: ReadonlyMap<string, Provider>
  readonly reconcileAfterMs: number
  readonly clock: TrustedClock
  readonly now: () => Date
  readonly signal: AbortSignal
  /** Aborts when a stop no longer waits for follow-ups in progress. */
  readonly givingUp: AbortSignal
  readonly log: Logger
}): Promise<ReturnType<typeof startReader> & Pick<Reconciler, 'underWay'> & { readonly reconciling: Promise<void> }> {
  const { pool, databaseUrl, store, providers, reconcileAfterMs, clock, now, signal, givingUp, log } = options
  const followUps = createFollowUps(pool, { leaseMs })
  for (const waiting of await followUps.waiting([...providers.keys()]))
    log.warn(waiting, 'follow-ups of a disabled provider are not handled')
  const work = createFollowUpHandler({ workflow: { store, providers, now }, reconcileAfterMs, clock, log })
  const reconciler = createReconciler({ followUps, providers, work, renewMs: leaseRenewMs, clock, now, log })
  const rules = { providers, reconcileAfterMs }
  const planner = createReconcilePlanner({ followUps, rules, now, dueNow: reconciler.wake })
  const reconciling = reconciler.run(signal, givingUp)
  // It may reject before the shutdown awaits it.
  reconciling.catch(() => undefined)
  const subscription = { name: followUpsSubscription, lock: followUpsSubscription, ...planner }
  const reader = startReader({ ...subscription, pool, databaseUrl, store, now, signal, log })
  return { ...reader, reconciling, underWay: reconciler.underWay }
}
