// Runs the webhooks commands on a log, a database and a real worker.
import { randomUUID } from 'node:crypto'
import type { Fold } from '@paylog/domain/events'
import type { RecordedDomainEvent } from '@paylog/domain/recordedEvents'
import { providerEventStream, webhookTestStream } from '@paylog/event-store/streamName'
import { startProcess } from '@paylog/testing/processes'
import { decodeEndpoints } from '@paylog/webhooks/endpoints/endpoints'
import { outboundMessages } from '@paylog/webhooks/messages/outbound'
import { simulated, tested } from '@paylog/webhooks/testing/eventFixtures'
import { eventSamples } from '@paylog/webhooks/testing/paymentFixture'
import type { Test } from 'tap'
import { paymentsHarness } from './paymentsHarness.ts'
import { runOps, startOps } from './runOps.ts'

const worker = new URL('../../../worker/src/main.ts', import.meta.url)
/** Decisions do not depend on state here. */
const fold: Fold<null, RecordedDomainEvent> = { initialState: null, evolve: (state) => state }
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
  const payments = await paymentsHarness(t)
  const { store, pool } = payments
  const env = { ...payments.env, WEBHOOK_ALLOWED_PRIVATE_CIDRS: '127.0.0.0/8' }

  const append = (stream: string, added: readonly RecordedDomainEvent[]) =>
    store.handle({ stream, fold, decide: () => [...added], metadata })
  const events = () => Array.fromAsync(store.readLog({ prefixes: ['payment-', 'providerEvent-'] }))

  return {
    ...payments,
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
      const data = { ...eventSamples.ProviderEventReceived, generic_type: 'invoice.created' }
      const received = (_: unknown, index: number): RecordedDomainEvent => {
        return { type: 'ProviderEventReceived', data: { ...data, provider_event_id: `${id}-${index}` } }
      }
      await append(providerEventStream('fake', id), Array.from({ length: count }, received))
    },

    /** Records a webhook test and a simulation of a user. */
    async recordTests(): Promise<void> {
      for (const event of [tested, simulated]) {
        const webhook_test_id = randomUUID()
        await append(webhookTestStream(webhook_test_id), [event({ webhook_test_id })])
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
