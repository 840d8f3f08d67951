// No data leaks while stores are away or reject what is written.

import { createPool } from '@paylog/runtime/postgres/pool'
import { createLog } from '@paylog/runtime/telemetry/log'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { type AccessFixture, addressBody, createAccessFixture, methodBody, paymentBody } from './accessFixture.ts'
import {
  type AccessHarness,
  type ApiResponse,
  after,
  type Client,
  createClient,
  dataOf,
  startAccessHarness,
} from './accessHarness.ts'
import { assertNoLeaks, leaksInLogs, leaksInResponses } from './leaks.ts'
import { ada, anonymous, canary, emailOf, g1, g2 } from './people.ts'

const idOf = (response: ApiResponse) => String(dataOf(response).id)

t.test('faults of the stores leak nothing', async (t) => {
  const system = await startAccessHarness(t)
  const client = createClient(t, system.baseUrl)
  const { send } = client
  const fixture = await createAccessFixture(system, client)
  const ownMethod = fixture.resources.method.find(({ owner }) => owner === 'ada')?.id ?? ''
  const pool = createPool({
    databaseUrl: system.databaseUrl,
    applicationName: 'sabotage',
    max: 1,
    log: createLog({ app: 'test', level: 'silent' }),
  })
  t.teardown(() => pool.end())

  t.test('a killed projector and a database that rejects its rows leak nothing', async (t) => {
    await system.kill('projector')
    const added = await send(ada, 'POST', '/addresses', { body: addressBody('ada') })
    const stale = await send(ada, 'GET', `/addresses/${idOf(added)}`)
    t.same([stale.status, stale.headers['x-read-stale']], [404, 'true'])
    await pay(client, fixture)
    await send(ada, 'PUT', `/payment-methods/${ownMethod}`, { body: { alias: canary('ada', 'alias') } })
    const tables = ['addresses_v1', 'payment_methods_v1', 'payments_v1']
    for (const table of tables)
      await pool.query(
        `alter table read_models.${table} add constraint rejects_all check (created_at is null) not valid`,
      )
    await system.start('projector')
    const hasFailed = (table: string) =>
      system
        .written()
        .get('projector')
        ?.split('\n')
        .some((line) => line.includes('rejects_all') && line.includes(table))
    await waitFor(() => tables.every(hasFailed), { what: 'the projector to fail' })
    for (const table of tables) await pool.query(`alter table read_models.${table} drop constraint rejects_all`)
    await waitFor(async () => (await send(ada, 'GET', `/addresses/${idOf(added)}`, after(added))).status === 200, {
      what: 'the projector to resume',
      timeoutMs: 20_000,
    })
    t.same([...leaksInResponses(client), ...leaksInLogs(system)], [])
  })

  t.test('a killed event store and a database that rejects events leak nothing', async (t) => {
    await pool.query('alter table event_store.events add constraint rejects_all check (position < 0) not valid')
    const rejected = await Promise.all([
      send(ada, 'POST', '/addresses', { body: addressBody('ada') }),
      send(g1, 'POST', '/payments/intents', { body: paymentBody('g1', emailOf.g1) }),
      send(ada, 'PUT', `/payment-methods/${ownMethod}`, { body: { alias: canary('ada', 'another.alias') } }),
    ])
    for (const { request, status } of rejected) t.ok(status >= 500, `${request}: ${status}`)
    await pool.query('alter table event_store.events drop constraint rejects_all')
    await system.kill('embedded-event-store')
    const requests = [
      send(ada, 'POST', '/addresses', { body: addressBody('ada') }),
      send(g2, 'POST', '/payment-methods', { body: methodBody('g2') }),
    ]
    await system.start('embedded-event-store')
    for (const { status, request: what } of await Promise.all(requests))
      t.ok(status < 300 || status === 503, `${what}: ${status}`)
    t.same([...leaksInResponses(client), ...leaksInLogs(system)], [])
  })

  t.test('a database that rejects deliveries and a failing endpoint leak nothing', async (t) => {
    await pool.query('alter table webhooks.deliveries add constraint rejects_all check (created_at is null) not valid')
    const paid = await pay(client, fixture)
    await waitFor(() => system.written().get('worker')?.includes('rejects_all'), { what: 'the worker to fail' })
    await pool.query('alter table webhooks.deliveries drop constraint rejects_all')
    await settle(system, client, paid)
    const { canonical, failing } = system.endpoints
    const isDelivered = (id: string) =>
      canonical.received.some(({ body }) => body.includes(id) && body.includes('payment.succeeded'))
    await waitFor(() => isDelivered(idOf(paid)) && failing.received.length > 2, {
      what: 'the webhooks',
      timeoutMs: 20_000,
    })
    await assertNoLeaks(t, system, client, fixture)
  })
})

async function pay({ send }: Client, { payers }: AccessFixture): Promise<ApiResponse> {
  const response = await send(ada, 'POST', '/payments/intents', { body: paymentBody('ada', emailOf.g1) })
  payers.set(idOf(response), emailOf.ada)
  return response
}

async function settle(system: AccessHarness, { send }: Client, payment: ApiResponse): Promise<void> {
  const id = dataOf(payment).provider_intent_id
  const object = { id, amount: 1200, currency: 'eur', status: 'succeeded', customer: null }
  const event = { id: 'evt_paid', type: 'payment_intent.succeeded', data: { object } }
  const { status, text } = await send(anonymous, 'POST', '/webhooks/sandbox', system.notification(event))
  if (status !== 200) throw new Error(`the receiver: ${status}: ${text}`)
}
