// The worker's components in this process, on a database and a queue for one test, fed with batches by the test.

import { randomUUID } from 'node:crypto'
import type { Recorded } from '@paylog/event-store/codec/codec'
import { createLog, type Logger } from '@paylog/runtime/telemetry/log'
import { positionAt } from '@paylog/testing/positionAt'
import { decodeEndpoints } from '@paylog/webhooks/endpoints/endpoints'
import type { Pool } from 'pg'
import type { Test } from 'tap'
import { createDispatcher } from '../dispatch/dispatcher.ts'
import { installationId, openQueueStore } from '../queue/queueStore.ts'
import { createQueues } from '../queue/queues.ts'
import { createRequeuer, type Requeuer } from '../queue/requeue.ts'
import { startWorkers } from '../queue/workers.ts'
import { createEndpointAgent } from '../send/endpointAgent.ts'
import { createSender } from '../send/sender.ts'
import { createDeliveries } from '../tables/deliveries.ts'
import { emptyTables, workerDatabase } from './workerDatabase.ts'

export const queueKinds = ['postgres', 'redis'] as const
export type QueueKind = (typeof queueKinds)[number]

// biome-ignore lint/style/noProcessEnv: the test runner passes the servers in variables.
const redisServerUrl = process.env.REDIS_TEST_URL
const closeTimeoutMs = 2_000
/** A logical Redis database for these tests alone. Without REDIS_TEST_URL the tests that need it are skipped. */
export const redisTestUrl = redisServerUrl && new URL('/2', redisServerUrl).href

/** Test options for this kind of queue. */
export function onQueue(kind: QueueKind) {
  return kind === 'redis' && !redisTestUrl ? { skip: 'REDIS_TEST_URL is not set' } : {}
}

export type WorkerHarness = Awaited<ReturnType<typeof createWorkerHarness>>

/** The test's own time, jitter and log. */
type WorkerHarnessOptions = { readonly now?: () => Date; readonly random?: () => number; readonly log?: Logger }

/**
 * @param env the WEBHOOK_ variables of the endpoints
 * @param redis a Redis server other than the default
 */
export async function createWorkerHarness(
  t: Test,
  kind: QueueKind,
  env: Readonly<Record<string, string>>,
  redis = redisTestUrl,
  {
    now = () => new Date(),
    random = Math.random,
    log = createLog({ app: 'test', level: 'silent' }),
  }: WorkerHarnessOptions = {},
) {
  const { endpoints, problems } = decodeEndpoints(env)
  if (problems.length > 0) throw new Error(problems.join())
  const { databaseUrl, pool } = await workerDatabase(t, { max: 4, log })
  const redisUrl = kind === 'redis' ? redis : undefined
  /** @param workers how many workers listen on it */
  const openStore = async (workers: number) => {
    const installation = await installationId(pool)
    return await openQueueStore({ databaseUrl, redisUrl, installation, workers, log })
  }
  const { store, close } = await openStore(0)
  const deliveries = createDeliveries(pool)
  const queues = createQueues({ store, endpoints, log })
  await queues.ready()
  const agent = createEndpointAgent(['127.0.0.0/8'])
  t.teardown(async () => {
    await queues.close()
    await close()
    await agent.destroy()
  })
  const send = createSender({ deliveries, agent, successStatus: '200', now, random, log })
  const requeuer = createRequeuer({ deliveries, queues, endpoints, now, log })

  return {
    pool,
    databaseUrl,
    store,
    deliveries,
    queues,
    endpoints,
    send,
    dispatcher: createDispatcher({
      deliveries,
      queues,
      endpoints,
      projects: { projectId: 'default', projectIds: [] },
      now,
      log,
    }),
    requeuer,
    /** Requeues until stopped or the test ends. */
    startRequeuer: () => startRequeuer(t, requeuer),
    /** Empties the tables, for files whose tests share one harness. */
    empty: () => emptyTables(pool),
    /** Starts another set of workers, like another process. */
    async work(): Promise<void> {
      const own = await openStore(endpoints.length)
      const givingUp = new AbortController()
      const options = { store: own.store, endpoints, queues, send, givingUp: givingUp.signal, log }
      const workers = await startWorkers(options)
      t.teardown(async () => {
        // A test may have left a request without a response.
        const timer = setTimeout(() => givingUp.abort(), closeTimeoutMs)
        await workers.close().catch(() => undefined)
        clearTimeout(timer)
        await own.close()
      })
    },
    row: (id: string) => deliveryRow(pool, id),
    attempts: (id: string) => attemptRows(pool, id),
  }
}

function startRequeuer(t: Test, requeuer: Requeuer): { stop(): Promise<void> } {
  const stopping = new AbortController()
  const running = requeuer.run(stopping.signal)
  const stop = async () => {
    stopping.abort()
    await running
  }
  t.teardown(stop)
  return { stop }
}

export type DeliveryRow = {
  status: string
  attempts: number
  next_attempt_at: Date | null
  last_http_status: number | null
  last_error: string | null
}
export type AttemptRow = {
  attempt: number
  http_status: number | null
  error: string | null
  response_body: string | null
  at: Date
}

async function deliveryRow(pool: Pool, id: string): Promise<DeliveryRow | undefined> {
  const { rows } = await pool.query<DeliveryRow>(
    'select status, attempts, next_attempt_at, last_http_status, last_error from webhooks.deliveries where id = $1',
    [id],
  )
  return rows[0]
}

async function attemptRows(pool: Pool, id: string): Promise<AttemptRow[]> {
  const { rows } = await pool.query<AttemptRow>(
    'select attempt, http_status, error, response_body, at from webhooks.attempts where delivery_id = $1 order by 1',
    [id],
  )
  return rows
}

/** A recorded success of a new payment. */
function paymentSucceeded(commit: bigint): Recorded {
  const payment_id = randomUUID()
  return {
    type: 'PaymentSucceeded',
    data: {
      payment_id,
      occurred_at: '2026-01-02T03:04:05.000Z',
      provider_id: 'sandbox',
      amount_cents: 2200,
      currency: 'USD',
      payer: { id: 'user-1', type: 'customer', email: 'ann@example.com' },
      project_id: null,
      provider_time: '2026-01-02T03:04:05.000Z',
      provider_event_id: null,
      provider_payment_id: null,
    },
    id: randomUUID(),
    stream: `payment-${payment_id}`,
    revision: 2n,
    position: positionAt(commit),
    created: new Date('2026-01-02T03:04:05.000Z'),
    metadata: { correlationId: 'request-1', causationId: 'request-1', actor: 'provider:sandbox', schema: 1 },
  }
}

/** A batch of recorded successes at consecutive positions. */
export function batchOf(count: number, firstCommit = 1n) {
  const events = Array.from({ length: count }, (_, index) => paymentSucceeded(firstCommit + BigInt(index)))
  const last = firstCommit + BigInt(count) - 1n
  return { events, position: positionAt(last) }
}

/** A recorded notification, which raw endpoints receive. */
export function notificationReceived(commit: bigint, body: string): Recorded {
  const provider_event_id = `evt_${commit}`
  return {
    type: 'ProviderEventReceived',
    data: {
      provider_id: 'sandbox',
      provider_event_id,
      provider_type: 'customer.created',
      generic_type: 'customer.created',
      occurred_at: '2026-01-02T03:04:05.000Z',
      received_at: '2026-01-02T03:04:05.000Z',
      body,
    },
    id: randomUUID(),
    stream: `providerEvent-sandbox:${provider_event_id}`,
    revision: 0n,
    position: positionAt(commit, commit - 1n),
    created: new Date('2026-01-02T03:04:05.000Z'),
    metadata: { correlationId: 'request-1', causationId: 'request-1', actor: 'provider:sandbox', schema: 1 },
  }
}
