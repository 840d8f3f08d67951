// The worker's components in this process, on a database and a queue for one test, fed with batches by the test.

import { randomUUID } from 'node:crypto'
import { createLog, type Logger } from '@paylog/runtime/telemetry/log'
import type { Pool } from 'pg'
import type { Test } from 'tap'
import { createDispatcher } from '../deliveries/dispatch/dispatcher.ts'
import type { Erasures } from '../deliveries/dispatch/erasures.ts'
import { installationId, openQueueStore } from '../deliveries/queue/queueStore.ts'
import { openWakeUps, takeWakeUps } from '../deliveries/queue/wakeUps.ts'
import type { BodyOf } from '../deliveries/send/bodies.ts'
import { createDeliverer } from '../deliveries/send/deliverer.ts'
import { createEndpointAgent } from '../deliveries/send/endpointAgent.ts'
import { beginning } from '../deliveries/send/lanes.ts'
import { createSender } from '../deliveries/send/sender.ts'
import { createDeliveries, type Deliveries } from '../deliveries/tables/deliveries.ts'
import { decodeEndpoints } from '../endpoints/endpoints.ts'
import { emptyTables, workerDatabase } from './workerDatabase.ts'

export const queueKinds = ['postgres', 'redis'] as const
export type QueueKind = (typeof queueKinds)[number]

// biome-ignore lint/style/noProcessEnv: the test runner passes the servers in variables.
const redisServerUrl = process.env.REDIS_TEST_URL
const closeTimeoutMs = 2_000
const worker = randomUUID()
/** A logical Redis database for these tests alone. Without REDIS_TEST_URL the tests that need it are skipped. */
const redisTestUrl = redisServerUrl && new URL('/2', redisServerUrl).href

/** Test options for this kind of queue. */
export function onQueue(kind: QueueKind) {
  return kind === 'redis' && !redisTestUrl ? { skip: 'REDIS_TEST_URL is not set' } : {}
}

export type WorkerHarness = Awaited<ReturnType<typeof createWorkerHarness>>

/** The test's own time, jitter and log. */
type WorkerHarnessOptions = { readonly now?: () => Date; readonly random?: () => number; readonly log?: Logger }

/** @param env the WEBHOOK_ variables of the endpoints */
export async function createWorkerHarness(
  t: Test,
  kind: QueueKind,
  env: Readonly<Record<string, string>>,
  {
    now = () => new Date(),
    random = Math.random,
    log = createLog({ app: 'test', level: 'silent' }),
  }: WorkerHarnessOptions = {},
) {
  const { endpoints, problems } = decodeEndpoints(env)
  if (problems.length > 0) throw new Error(problems.join())
  const { databaseUrl, pool } = await workerDatabase(t, { max: 4, log })
  const redisUrl = kind === 'redis' ? redisTestUrl : undefined
  const openStore = async () =>
    await openQueueStore({ databaseUrl, redisUrl, installation: await installationId(pool), log })
  const { store, close } = await openStore()
  const wakeUps = openWakeUps({ store, log })
  const agent = createEndpointAgent(['127.0.0.0/8'])
  t.teardown(async () => {
    await wakeUps.close()
    await close()
    await agent.destroy()
  })
  const projects = { projectId: 'default', projectIds: [] }
  const dispatching = { wakeUps, endpoints, projects, erasures: noErasures, now }
  const deliveries = createDeliveries(pool, worker)
  const bodyOf: BodyOf = (_, { body }) => body ?? Promise.resolve(undefined)
  const senderOf = (own: Deliveries) =>
    createSender({ deliveries: own, bodyOf, agent, successStatus: '200', now, random, log })
  /** Records, and leaves the sending to other workers. */
  const noSlots = { reserve: () => ({ leaseOf: () => undefined, take: () => undefined }) }

  return {
    pool,
    databaseUrl,
    store,
    deliveries,
    endpoints,
    wakeUps,
    sender: senderOf(deliveries),
    dispatcher: createDispatcher({ ...dispatching, deliveries, deliverer: noSlots }),
    /** Empties the tables, for files whose tests share one harness. */
    empty: () => emptyTables(pool),
    /** Starts a worker, like another process. */
    async work() {
      const ownStore = await openStore()
      const own = createDeliveries(pool, randomUUID())
      const givingUp = new AbortController()
      const deliverer = createDeliverer({
        deliveries: own,
        endpoints,
        sender: senderOf(own),
        scheduleWakeUp: wakeUps.schedule,
        givingUp: givingUp.signal,
        now,
        log,
      })
      const taking = takeWakeUps({ store: ownStore.store, wake: deliverer.wake, log })
      deliverer.start(givingUp.signal)
      let stopping: Promise<void> | undefined
      const stop = () => {
        stopping ??= deliverer.close().finally(async () => {
          await taking.close()
          await ownStore.close()
        })
        return stopping
      }
      t.teardown(async () => {
        // A test may have left a request without a response.
        const timer = setTimeout(() => givingUp.abort(), closeTimeoutMs)
        await stop().catch(() => undefined)
        clearTimeout(timer)
      })
      return {
        deliverer,
        stop,
        /** Records and sends. */
        dispatcher: createDispatcher({ ...dispatching, deliveries: own, deliverer }),
      }
    },
    /** Claims the due deliveries of an endpoint. */
    claim: (endpoint: string, limit = 100, at = now()) =>
      deliveries.claim([{ endpoint, limit, leaseMs: 15_000, since: beginning }], at),
    row: (id: string) => deliveryRow(pool, id),
    attempts: (id: string) => attemptRows(pool, id),
  }
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
  ms: number
}

async function deliveryRow(pool: Pool, id: string): Promise<DeliveryRow | undefined> {
  const { rows } = await pool.query<DeliveryRow>(
    'select status, attempts, next_attempt_at, last_http_status, last_error from webhooks.all_deliveries where id = $1',
    [id],
  )
  return rows[0]
}

async function attemptRows(pool: Pool, id: string): Promise<AttemptRow[]> {
  const { rows } = await pool.query<{ made: [number, number, number | null, string | null, string | null] }>(
    `select made from webhooks.all_deliveries, jsonb_array_elements(attempts_made) with ordinality as m (made, number)
    where id = $1 order by number`,
    [id],
  )
  return rows.map(({ made: [at, ms, http_status, error, response_body] }, index) => ({
    attempt: index + 1,
    at: new Date(at),
    ms,
    http_status,
    error,
    response_body,
  }))
}

/** For a dispatcher that meets no erasure. */
export const noErasures: Erasures = { apply: async () => undefined, withoutKeys: async (events) => events }
