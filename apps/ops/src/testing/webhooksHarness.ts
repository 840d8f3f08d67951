// Runs the webhooks commands on a log, a database and a real worker.
import { randomUUID } from 'node:crypto'
import { notificationFold, type ProviderNotificationEvent } from '@paylog/domain/providerEvents'
import { type WebhookTestFacts, webhookTestFold } from '@paylog/domain/webhookTest'
import { providerEventStream, webhookTestStream } from '@paylog/event-store/streamName'
import { startEventStore } from '@paylog/testing/eventStore'
import { startProcess } from '@paylog/testing/processes'
import { testPool } from '@paylog/testing/testPool'
import { decodeEndpoints } from '@paylog/webhooks/endpoints/endpoints'
import { outboundMessages } from '@paylog/webhooks/messages/outbound'
import type { Test } from 'tap'
import { paymentsHarness } from './paymentsHarness.ts'
import { runOps, startOps } from './runOps.ts'

const worker = new URL('../../../worker/src/main.ts', import.meta.url)
const metadata = { correlationId: 'request-1', causationId: 'request-1', actor: 'provider:sandbox' }

export type Variables = Readonly<Record<string, string>>

export type DeliveryRow = {
  readonly id: string
  readonly node: string
  readonly event: string
  readonly body: string
  readonly status: string
  readonly attempts: number
  /** Null for a finished delivery. */
  readonly series_start: number | null
  readonly next_attempt_at: Date | null
  readonly is_test: boolean
}

/** The variables of an endpoint. @param more by their names after the number: `EVENT_MODE` */
export function endpointVariables(name: string, url: string, more: Variables = {}): Record<string, string> {
  const variables = { ENABLED: 'true', URL: url, RETRY_SCHEDULE: '50ms', ...more }
  return Object.fromEntries(Object.entries(variables).map(([suffix, value]) => [`WEBHOOK_${name}_${suffix}`, value]))
}

export async function webhooksHarness(t: Test) {
  const eventStore = await startEventStore(t)
  const payments = await paymentsHarness(t, eventStore)
  const { databaseUrl, store } = payments
  const pool = testPool(t, databaseUrl)
  const env = {
    DATABASE_URL: databaseUrl,
    EVENTSTORE_URL: payments.connectionString,
    WEBHOOK_ALLOWED_PRIVATE_CIDRS: '127.0.0.0/8',
    DATA_DIR: t.testdir({}),
  }

  const events = () => Array.fromAsync(store.readLog({ prefixes: ['payment-', 'providerEvent-'] }))

  return {
    pool,
    store,
    eventStore,
    env,
    events,
    /** A real worker with these endpoints. */
    startWorker: (nodes: Variables) => startProcess(t, { script: worker, env: { ...env, ...nodes } }),
    run: (args: readonly string[], nodes: Variables = {}) => runOps(['webhooks', ...args], { ...env, ...nodes }),
    start: (args: readonly string[], nodes: Variables = {}) => startOps(t, ['webhooks', ...args], { ...env, ...nodes }),

    /** Of one endpoint, in the order of creation. */
    async rows(name: string): Promise<DeliveryRow[]> {
      const { rows } = await pool.query<DeliveryRow>(
        'select * from webhooks.all_deliveries where node = $1 order by created_at, source_stream, source_revision, id',
        [name],
      )
      return rows
    },

    /** Inserts failed deliveries, which failed one minute ago and one minute earlier each. */
    fail: (node: string, count: number) => pool.query(failSql, [node, count]),

    /** The delivery ids, in order, that the worker would create for an endpoint from the whole log. */
    async idsOf(name: string, nodes: Variables): Promise<string[]> {
      const wanted = decodeEndpoints(nodes).endpoints.filter((configured) => configured.name === name)
      return (await events()).flatMap((event) =>
        outboundMessages(event, wanted, { projectId: 'default', projectIds: [] }).map(({ id }) => id),
      )
    },

    /** Records payments with intents. Each causes one canonical webhook. */
    async pay(count: number): Promise<string[]> {
      return await Promise.all(Array.from({ length: count }, () => payments.record('sandbox', randomUUID())))
    },

    /** Records many notifications at once. Each causes one raw webhook. */
    async notify(count: number): Promise<void> {
      const id = randomUUID()
      await store.handle({
        stream: providerEventStream('sandbox', id),
        fold: notificationFold,
        decide: () => Array.from({ length: count }, (_, index) => notificationReceived(`${id}-${index}`)),
        metadata,
      })
    },

    /** Records a webhook test and a simulation of a user. */
    async recordTests(): Promise<void> {
      for (const type of ['WebhookTestRequested', 'WebhookSimulationRequested'] as const) {
        const webhook_test_id = randomUUID()
        await store.handle({
          stream: webhookTestStream(webhook_test_id),
          fold: webhookTestFold,
          decide: () => [{ type, data: { ...webhookTestFacts, webhook_test_id } }],
          metadata,
        })
      }
    },
  }
}

const failSql = `
insert into webhooks.finished_deliveries (id, node, event, mode, provider, body, source_stream, source_revision,
  source_event_id, correlation_id, causation_id, is_test, attempts, attempts_made, last_attempt_at, last_error,
  ended_at, created_at)
select gen_random_uuid(), $1, 'payment.failed', 'canonical', 'sandbox', '{}', 'payment-1', n, gen_random_uuid(),
  'c', 'c', false, 4, '[]', now() - make_interval(mins => n), 'timeout', now(), now() - interval '30 days'
from generate_series(1, $2::int) n`

function notificationReceived(provider_event_id: string): ProviderNotificationEvent {
  const time = '2026-01-02T03:04:05.000Z'
  return {
    type: 'ProviderEventReceived',
    data: {
      provider_id: 'sandbox',
      provider_event_id,
      provider_type: 'invoice.created',
      generic_type: 'invoice.created',
      occurred_at: time,
      provider_time: time,
      body: JSON.stringify({ id: provider_event_id, type: 'invoice.created' }),
    },
  }
}

const webhookTestFacts: Omit<WebhookTestFacts, 'webhook_test_id'> = {
  occurred_at: '2026-01-02T03:04:05.000Z',
  requested_by: { id: 'user-1', type: 'customer', email: null },
  provider_id: 'sandbox',
  canonical_name: 'payment.created',
  provider_type: null,
  generic_type: null,
  body: null,
  object_id: 'object-1',
  amount_cents: 2200,
  currency: 'USD',
  status: 'pending',
  customer_id: 'customer-1',
  subscription: null,
  customer_email: null,
  request_fingerprint: null,
  plan: { canonical_events: ['payment.created'], deliveries: [] },
}
