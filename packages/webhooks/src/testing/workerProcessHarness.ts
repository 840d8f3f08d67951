// Workers as processes on a real log. To find lost events, the tests compare a journal of the appended events with the
// requests at the endpoints, not with the tables.

import { providerEventStream } from '@paylog/event-store/streamName'
import { connectEventStore } from '@paylog/event-store/testing/eventStoreHarness'
import { migratePrivacy } from '@paylog/privacy/migrate'
import { createPool } from '@paylog/runtime/postgres/pool'
import { createLog } from '@paylog/runtime/telemetry/log'
import { startEventStore, type TestEventStore } from '@paylog/testing/eventStore'
import type { FakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { startProcess, type TestProcess } from '@paylog/testing/processes'
import { waitFor } from '@paylog/testing/waitFor'
import type { Test } from 'tap'
import { migrateWebhooks } from '../deliveries/migrate.ts'
import { endpointSettings } from './eventFixtures.ts'
import { notificationReceived } from './paymentFixture.ts'

const script = new URL('../../../../apps/worker/src/main.ts', import.meta.url)
const metadata = { correlationId: 'request-1', causationId: 'request-1', actor: 'provider:sandbox' }

type Check = { readonly ok: boolean; readonly [detail: string]: unknown }
export type Readiness = { readonly status: number; readonly checks: Readonly<Record<string, Check>> }
export type RunningWorker = TestProcess & {
  /** Reads the health page. */
  ready(): Promise<Readiness>
  metrics(): Promise<string>
}

export type WorkerProcessHarness = Awaited<ReturnType<typeof createWorkerProcessHarness>>

/**
 * @param env variables of all workers: their endpoints, and `REDIS_URL`
 * @param log the event store and database to use; default: new ones
 */
export async function createWorkerProcessHarness(
  t: Test,
  env: Readonly<Record<string, string>>,
  log?: Pick<TestEventStore, 'connectionString' | 'databaseUrl' | 'keys'>,
) {
  const { connectionString, databaseUrl, keys } = log ?? (await startEventStore(t))
  const silent = createLog({ app: 'test', level: 'silent' })
  const pool = createPool({ databaseUrl, applicationName: 'test', max: 2, log: silent })
  t.teardown(() => pool.end())
  await migrateWebhooks(pool)
  await migratePrivacy(pool)
  const store = connectEventStore(t, { connectionString, keys })
  const journal: string[] = []

  return {
    pool,
    /** Ids of the notifications that are, or may be, in the log. */
    journal,
    async append(count: number): Promise<void> {
      for (let left = count; left > 0; left--) {
        const number = BigInt(journal.length)
        const id = `evt_${number}`
        journal.push(id)
        const { type, data } = notificationReceived(number, JSON.stringify({ id }))
        if (type !== 'ProviderEventReceived') throw new Error('not a notification')
        await store.handle({
          stream: providerEventStream('fake', id),
          fold: { initialState: undefined, evolve: () => undefined },
          decide: () => [{ type, data }],
          metadata,
        })
      }
    },
    /** @param more variables of this worker */
    async start(more: Readonly<Record<string, string>> = {}): Promise<RunningWorker> {
      const worker = await startProcess(t, {
        script,
        env: {
          DATABASE_URL: databaseUrl,
          EVENTSTORE_URL: connectionString,
          WEBHOOK_ALLOWED_PRIVATE_CIDRS: '127.0.0.0/8',
          HEALTH_PORT: '0',
          LOG_LEVEL: 'warn',
          ...env,
          ...more,
        },
      })
      const page = String(worker.detail.healthUrl)
      return {
        ...worker,
        async ready() {
          const response = await fetch(`${page}/health/ready`)
          const { checks } = (await response.json()) as Pick<Readiness, 'checks'>
          return { status: response.status, checks }
        },
        metrics: async () => await (await fetch(`${page}/metrics`)).text(),
      }
    },
    /** Counts the deliveries with this status. */
    async count(status: 'pending' | 'succeeded' | 'failed'): Promise<number> {
      const { rows } = await pool.query<{ count: number }>(
        'select count(*)::int as count from webhooks.all_deliveries where status = $1',
        [status],
      )
      return rows[0]?.count ?? 0
    },
  }
}

/** The variables of an endpoint with mode raw. */
export function rawEndpointVariables(number: number, url: string, more: Readonly<Record<string, string>> = {}) {
  return endpointSettings(number, 'raw', { URL: url, RETRY_SCHEDULE: '200ms,200ms,200ms,200ms', ...more })
}

/** The ids of the received notifications, in the order of their first arrival. */
function receivedIds({ received }: FakeEndpoint): string[] {
  return [...new Set(received.map(({ body }) => String(JSON.parse(body).data.id)))]
}

/** Waits until an endpoint has received everything in the journal, and checks that it received nothing else. */
export async function assertAllDelivered(
  t: Test,
  harness: WorkerProcessHarness,
  endpoint: FakeEndpoint,
  timeoutMs = 20_000,
): Promise<void> {
  await waitFor(() => receivedIds(endpoint).length >= harness.journal.length, { what: 'every webhook', timeoutMs })
  t.strictSame(
    receivedIds(endpoint).sort(),
    [...harness.journal].sort(),
    'the endpoint received exactly the appended notifications',
  )
  const ids = new Map(endpoint.received.map(({ id, body }) => [body, id]))
  t.ok(
    endpoint.received.every(({ id, body }) => ids.get(body) === id),
    'repeated webhooks have the same webhook-id',
  )
  await waitFor(async () => (await harness.count('pending')) === 0, {
    what: 'every delivery to be finished',
    timeoutMs,
  })
}

/** Waits until a worker's health page responds with this status. */
export function waitForReadiness(worker: RunningWorker, status: number): Promise<Readiness> {
  return waitFor(
    async () => {
      const ready = await worker.ready()
      return ready.status === status && ready
    },
    { what: `readiness ${status}`, timeoutMs: 40_000 },
  )
}
