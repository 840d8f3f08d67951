// A worker in this process on a real event store, and a payer whose data can be erased.
import { randomUUID } from 'node:crypto'
import { userOwner } from '@paylog/domain/actor'
import { erasureFold } from '@paylog/domain/erasures'
import { paymentFold } from '@paylog/domain/payments/fold'
import { subjectNamed } from '@paylog/domain/personalData'
import { notificationFold } from '@paylog/domain/providerEvents'
import { createEventStore, type EventStore } from '@paylog/event-store/eventStore'
import { erasureStream, paymentStream, providerEventStream } from '@paylog/event-store/streamName'
import type { PersonalDataKeys } from '@paylog/privacy/dataKeys'
import { createPool } from '@paylog/runtime/postgres/pool'
import { createLog } from '@paylog/runtime/telemetry/log'
import { startEventStore, type TestEventStore } from '@paylog/testing/eventStore'
import { waitFor } from '@paylog/testing/waitFor'
import type { Pool } from 'pg'
import type { Test } from 'tap'
import { createDispatcher } from '../deliveries/dispatch/dispatcher.ts'
import { createErasures, type Erasures } from '../deliveries/dispatch/erasures.ts'
import { createBodies } from '../deliveries/send/bodies.ts'
import { createDeliverer } from '../deliveries/send/deliverer.ts'
import { createEndpointAgent } from '../deliveries/send/endpointAgent.ts'
import { createSender } from '../deliveries/send/sender.ts'
import { streamPrefixes } from '../deliveries/subscriptions/exclusiveSubscription.ts'
import { restartWorker } from '../deliveries/subscriptions/restart.ts'
import { createDeliveries, planSettings } from '../deliveries/tables/deliveries.ts'
import { decodeEndpoints } from '../endpoints/endpoints.ts'
import { eventSamples } from './paymentFixture.ts'
import { emptyTables } from './workerDatabase.ts'

export const projects = { projectId: 'default', projectIds: [] }
const metadata = { correlationId: 'request-1', causationId: 'request-1', actor: 'anonymous' }
const log = createLog({ app: 'test', level: 'silent' })
const now = () => new Date()

/**
 * @param env the WEBHOOK_ variables of the endpoints
 * @param eventStore the one of an earlier test, whose events are skipped
 */
export async function createErasureHarness(
  t: Test,
  env: Readonly<Record<string, string>>,
  eventStore?: TestEventStore,
) {
  const { endpoints } = decodeEndpoints(env)
  const { connectionString, databaseUrl, keys } = eventStore ?? (await startEventStore(t))
  const store = createEventStore({ connectionString, keys })
  const pool = createPool({ databaseUrl, applicationName: 'test', max: 8, settings: planSettings, log })
  await emptyTables(pool)
  await restartWorker({ pool, store }, await store.checkpointBefore(undefined), now())
  const deliveries = createDeliveries(pool, randomUUID())
  const agent = createEndpointAgent(['127.0.0.0/8'])
  const bodyOf = createBodies({ keys, store, projects })
  const sender = createSender({ deliveries, bodyOf, agent, successStatus: '200', now, random: Math.random, log })
  const scheduleWakeUp = () => undefined
  const deliverer = createDeliverer({ deliveries, endpoints, sender, scheduleWakeUp, now, log })
  const stopping = new AbortController()
  deliverer.start(stopping.signal)
  t.teardown(async () => {
    stopping.abort()
    await deliverer.close()
    await agent.destroy()
    await store.close()
    await pool.end()
  })
  const real = createErasures({ pool, keys, store, log })
  const wakeUps = { wake: () => undefined }

  return {
    ...{ pool, store, keys, endpoints, erasures: real },

    ...recordsOf(store, keys),
    ...rowsOf(pool),

    /** Hands what is new in the log to a worker, like its subscription. @param erasures a test's own */
    async dispatch(erasures: Erasures = real): Promise<void> {
      const dispatcher = createDispatcher({ deliveries, deliverer, wakeUps, endpoints, projects, erasures, now })
      const from = await dispatcher.start()
      for await (const batch of store.readBatches({ prefixes: streamPrefixes, from, maxBatch: 100 }))
        await dispatcher.handle(batch)
    },
  }
}

function recordsOf(store: EventStore, keys: PersonalDataKeys) {
  return {
    /** Records a payment of this user that succeeds. @returns its stream */
    async pay(user: string, email: string): Promise<string> {
      const payment_id = randomUUID()
      const facts = { payment_id, payer: { id: user, type: 'customer', email }, provider_id: 'sandbox' }
      await store.handle({
        ...{ stream: paymentStream(payment_id), fold: paymentFold, metadata },
        decide: () => [
          { type: 'PaymentInitiated', data: { ...eventSamples.PaymentInitiated, ...facts } },
          { type: 'PaymentSucceeded', data: { ...eventSamples.PaymentSucceeded, ...facts } },
        ],
      })
      return paymentStream(payment_id)
    },

    /** Records a notification about this user. */
    async notify(user: string, body: string): Promise<void> {
      const provider_event_id = randomUUID()
      const data = { ...eventSamples.ProviderEventReceived, provider_id: 'sandbox', provider_event_id, body }
      await store.handle({
        ...{ stream: providerEventStream('sandbox', provider_event_id), fold: notificationFold, metadata },
        decide: () => [{ type: 'ProviderEventReceived', data }],
        subject: subjectNamed(userOwner(user)),
      })
    },

    /** Records that a user is erased. The worker destroys the keys. */
    async recordErasure(user: string): Promise<readonly string[]> {
      const key_ids = [...(await keys.find({ user }))]
      const erasure_id = randomUUID()
      await store.handle({
        ...{ stream: erasureStream(erasure_id), fold: erasureFold, metadata },
        decide: () => [{ type: 'SubjectErased', data: { erasure_id, occurred_at: now().toISOString(), key_ids } }],
      })
      return key_ids
    },
  }
}

type Row = {
  readonly id: string
  readonly status: string
  readonly body: string | null
  readonly last_error: string | null
  readonly attempts_made: readonly (readonly unknown[])[]
}

function rowsOf(pool: Pool) {
  /** The deliveries to an endpoint, by age. */
  async function rows(endpoint: string): Promise<readonly Row[]> {
    const found = await pool.query<Row>(
      `select id, status, body, last_error, attempts_made from webhooks.all_deliveries where node = $1
      order by created_at, source_stream, source_revision`,
      [endpoint],
    )
    return found.rows
  }

  return {
    rows,

    /** Everything in the tables of the deliveries, as text. */
    async tables(): Promise<string> {
      const found = await pool.query<{ text: string }>(
        `select concat((select string_agg(d::text, ' ') from webhooks.deliveries d),
          (select string_agg(d::text, ' ') from webhooks.finished_deliveries d)) as text`,
      )
      return found.rows[0]?.text ?? ''
    },

    /** Waits until this holds of the deliveries to an endpoint. */
    async until(endpoint: string, check: (rows: readonly Row[]) => boolean): Promise<void> {
      await waitFor(async () => check(await rows(endpoint)), { what: `the deliveries to endpoint ${endpoint}` })
    },
  }
}
