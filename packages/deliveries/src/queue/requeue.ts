// Brings back what the queue lost: pending rows without a job, and jobs whose worker is dead.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '@paylog/runtime/telemetry/log'
import type { WebhookEndpoint } from '@paylog/webhooks/endpoints/endpoints'
import type { Deliveries } from '../tables/deliveries.ts'
import { jobId, maxWaiting, type Queues } from './queues.ts'

const requeueEveryMs = 2_000
const requeueLimit = 1_000
const activeLimit = 1_000

export type Requeuer = { once(): Promise<void>; run(signal: AbortSignal): Promise<void> }

export function createRequeuer(deps: {
  deliveries: Deliveries
  queues: Queues
  endpoints: readonly WebhookEndpoint[]
  now: () => Date
  log: Logger
}): Requeuer {
  const { deliveries, queues, endpoints, now, log } = deps
  /** Per node: workers that the last look missed, and their jobs that were taken over. */
  const seen = new Map<string, { missed: ReadonlySet<string>; taken: ReadonlySet<string> }>()

  /**
   * Rows that should have been tried by now. Those which have a job after all get no second one, and where none of many
   * was missing the others are left to later looks: behind a slow endpoint the whole backlog waits in jobs.
   */
  async function requeueOverdue(node: string): Promise<void> {
    while ((await queues.waiting(node)) < maxWaiting) {
      const overdue = await deliveries.overdue(node, now(), requeueLimit)
      if (overdue.length === 0) return
      const missing = await queues.enqueue(
        node,
        overdue.map((attempt) => ({ ...attempt, delayMs: 0 })),
      )
      log.debug({ node, deliveries: overdue.length, missing }, 'overdue deliveries queued again')
      if (overdue.length < requeueLimit || missing === 0) return
    }
  }

  /** Tests that should have been tried by now: a few, after everything else. */
  async function requeueTests(node: string): Promise<void> {
    const tests = await deliveries.overdueTests(node, now())
    if (tests.length > 0) await queues.enqueue(node, tests)
  }

  /**
   * Jobs of workers that are gone would otherwise wait until their locks run out. A worker counts as dead when two
   * looks in a row miss it: one that is just connecting again is missed once. Where nobody can tell who lives, nothing
   * is taken over: a second job would send twice what is being sent, and BullMQ finds those whose lock ran out.
   */
  async function takeOverOrphans(node: string): Promise<void> {
    const active = await queues.activeAttempts(node, activeLimit)
    if (active.length === 0) return void seen.delete(node)
    const isLive = await queues.liveWorkers(node)
    if (isLive === undefined) return void seen.delete(node)
    const orphans = active.filter(({ worker }) => !isLive(worker))
    const before = seen.get(node) ?? { missed: new Set(), taken: new Set() }
    const taken = new Set<string>()
    for (const { attempt, worker } of orphans.filter((orphan) => before.missed.has(orphan.worker))) {
      const orphan = `${jobId(attempt)}-${worker}`
      taken.add(orphan)
      if (before.taken.has(orphan)) continue
      await queues.takeOver(node, attempt, orphan)
      log.info({ node, ...attempt }, 'took over an attempt of a dead worker')
    }
    seen.set(node, { missed: new Set(orphans.map(({ worker }) => worker)), taken })
  }

  async function once(): Promise<void> {
    await Promise.all(
      endpoints.map(async ({ name }) => {
        try {
          await requeueOverdue(name)
          await requeueTests(name)
          await takeOverOrphans(name)
        } catch (error) {
          log.warn({ err: error, node: name }, 'the sweep failed, trying again')
        }
      }),
    )
  }

  return {
    once,
    async run(signal) {
      while (!signal.aborted) {
        await once()
        await sleep(requeueEveryMs, undefined, { signal }).catch(() => undefined)
      }
    },
  }
}
