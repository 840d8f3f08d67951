// Restores lost jobs: adds jobs for due deliveries that have none, and takes over jobs of dead workers.
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
  /** Per endpoint: workers that the last round did not find, and their jobs that were taken over. */
  const seen = new Map<string, { missing: ReadonlySet<string>; taken: ReadonlySet<string> }>()

  /**
   * Requeues overdue deliveries. Those in a job get no second one. If a full batch is in jobs, the rest waits for later
   * rounds: the whole backlog of a slow endpoint is in jobs.
   */
  async function requeueOverdue(node: string): Promise<void> {
    while ((await queues.waiting(node)) < maxWaiting) {
      const overdue = await deliveries.overdue(node, now(), requeueLimit)
      if (overdue.length === 0) return
      const missing = await queues.enqueue(
        node,
        overdue.map((attempt) => ({ ...attempt, delayMs: 0 })),
      )
      log.debug({ node, deliveries: overdue.length, missing }, 'requeued overdue deliveries')
      if (overdue.length < requeueLimit || missing === 0) return
    }
  }

  /** Requeues a few overdue tests, after all other deliveries. */
  async function requeueTests(node: string): Promise<void> {
    const tests = await deliveries.overdueTests(node, now())
    if (tests.length > 0) await queues.enqueue(node, tests)
  }

  /**
   * Takes over jobs of dead workers before their locks expire. A worker counts as dead when two rounds in a row do not find
   * it, because a reconnecting worker is missing once. If live workers cannot be listed, nothing is taken over: a second
   * job could send a webhook twice, and BullMQ recovers jobs whose lock expired.
   */
  async function takeOverOrphans(node: string): Promise<void> {
    const active = await queues.activeAttempts(node, activeLimit)
    if (active.length === 0) return void seen.delete(node)
    const isLive = await queues.liveWorkers(node)
    if (isLive === undefined) return void seen.delete(node)
    const orphans = active.filter(({ worker }) => !isLive(worker))
    const before = seen.get(node) ?? { missing: new Set(), taken: new Set() }
    const taken = new Set<string>()
    for (const { attempt, worker } of orphans.filter((orphan) => before.missing.has(orphan.worker))) {
      const orphan = `${jobId(attempt)}-${worker}`
      taken.add(orphan)
      if (before.taken.has(orphan)) continue
      await queues.takeOver(node, attempt, orphan)
      log.info({ node, ...attempt }, 'took over an attempt from a dead worker')
    }
    seen.set(node, { missing: new Set(orphans.map(({ worker }) => worker)), taken })
  }

  async function once(): Promise<void> {
    await Promise.all(
      endpoints.map(async ({ name }) => {
        try {
          await requeueOverdue(name)
          await requeueTests(name)
          await takeOverOrphans(name)
        } catch (error) {
          log.warn({ err: error, node: name }, 'requeueing failed, trying again')
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
