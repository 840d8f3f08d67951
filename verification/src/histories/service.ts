// The product's processes on simulated time: instances of the API, and a worker with its rules. What they know is lost when they
// die; the log, the tables, the keys and the providers' books stay.

import type { Workflow } from '@paylog/commands/context'
import { createRefresh, type RefreshPayment } from '@paylog/commands/payments/refreshPayment'
import type { DataKeys } from '@paylog/event-store/codec/dataKeys'
import { createEventStore } from '@paylog/event-store/eventStore'
import { createLog } from '@paylog/runtime/telemetry/log'
import { createDispatcher } from '@paylog/webhooks/deliveries/dispatch/dispatcher'
import { followUpsSubscription, webhookSubscription } from '@paylog/webhooks/deliveries/subscriptions/checkpoint'
import { streamPrefixes } from '@paylog/webhooks/deliveries/subscriptions/exclusiveSubscription'
import { createDeliveries } from '@paylog/webhooks/deliveries/tables/deliveries'
import type { WebhookEndpoint } from '@paylog/webhooks/endpoints/endpoints'
import { createFollowUpHandler } from '../../../apps/worker/src/reconciler/followUpHandler.ts'
import { createFollowUps } from '../../../apps/worker/src/reconciler/followUps.ts'
import { createReconcilePlanner } from '../../../apps/worker/src/reconciler/reconciler.ts'
import type { Books } from './books.ts'
import type { ProviderName } from './providers/providers.ts'
import { inProcess, type Process } from './scheduler.ts'
import { world } from './simulatedBuiltins.ts'
import type { Tables } from './simulatedTables.ts'

/** What survives the processes. */
export type Durable = {
  readonly provider: ProviderName
  readonly books: Books
  readonly tables: Tables
  readonly keys: DataKeys
}

export type Api = { readonly process: Process; readonly workflow: Workflow; readonly refresh: RefreshPayment }

const reconcileAfterMs = 60 * 60_000
const leaseMs = 30_000
const followUpsAtOnce = 8
/** A worker looks for due follow-ups once in this time. */
const lookMs = 1_000
/** The simulated log announces every event, so that nothing has to be looked for. */
const pollMs = 30 * 24 * 60 * 60_000
const log = createLog({ app: 'simulation', level: 'silent' })

const endpoint: WebhookEndpoint = {
  name: 'endpoint',
  label: null,
  url: 'https://receiver.example',
  patterns: ['all'],
  mode: 'canonical',
  format: 'json',
  secrets: [],
  retryScheduleMs: [],
  timeoutMs: 1_000,
}

function startProcess(name: string): Process {
  return { name, isAlive: true, onDeath: [] }
}

function openWorkflow({ books, keys, provider }: Durable): Workflow {
  const store = createEventStore({ connectionString: 'esdb://simulated?tls=false', keys, timing: { pollMs } })
  return { store, providers: new Map([[provider, books.createProvider()]]), now: () => new Date() }
}

export function startApi(durable: Durable, name: string): Api {
  const process = startProcess(name)
  return inProcess(process, () => {
    const workflow = openWorkflow(durable)
    return { process, workflow, refresh: createRefresh(workflow) }
  })
}

/** A worker: plans follow-ups and webhooks from the log, and handles the follow-ups that are due. */
export function startWorker(durable: Durable): Process {
  const worker = startProcess('worker')
  inProcess(worker, () => runWorker(durable, worker))
  return worker
}

/** All processes of a history have its clock. */
const clock = { agrees: async () => true }

function runWorker(durable: Durable, worker: Process): void {
  const { tables, provider, books } = durable
  const workflow = openWorkflow(durable)
  const { store, providers, now } = workflow
  const adapter = providers.get(provider) ?? books.createProvider()
  const followUps = createFollowUps(tables.pool, { leaseMs })
  const work = createFollowUpHandler({ workflow, reconcileAfterMs, clock, log })
  let timer: NodeJS.Timeout | undefined

  async function look(): Promise<void> {
    // What fails is tried again when its lease is over.
    const taken = await followUps.take(provider, now(), followUpsAtOnce).catch(() => [])
    const handled = taken.map(async (followUp) => followUps.giveBack(followUp, await work(followUp, adapter)))
    await Promise.allSettled(handled)
    plan()
  }

  /** Looks when the next follow-up is due, instead of once a second. */
  function plan(): void {
    clearTimeout(timer)
    const due = tables.nextDue()
    if (due === Number.POSITIVE_INFINITY) return
    timer = inProcess(worker, () => setTimeout(() => void look(), Math.max(lookMs, due - Date.now())))
  }

  worker.onDeath.push(tables.watch(plan))
  plan()
  const planner = createReconcilePlanner({ followUps, rules: { providers, reconcileAfterMs }, now, dueNow: plan })
  const dispatcher = createDispatcher({
    deliveries: createDeliveries(tables.pool, worker.name),
    deliverer: { reserve: () => ({ leaseOf: () => undefined, take: () => undefined }) },
    wakeUps: { wake: () => undefined },
    endpoints: [endpoint],
    projects: { projectId: 'default', projectIds: [] },
    erasures: { apply: async () => undefined, withoutKeys: async (events) => events },
    now,
  })
  const following = { streamPrefixes, maxBatch: 100, signal: world().over, log }
  const stopped = (error: unknown) => void world().problems.push(`the worker stops: ${error}`)
  store.follow({ ...planner, ...following, name: followUpsSubscription }).catch(stopped)
  store.follow({ ...dispatcher, ...following, name: webhookSubscription }).catch(stopped)
  world().tell('the worker starts')
}
