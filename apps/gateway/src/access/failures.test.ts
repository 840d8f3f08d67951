// Nobody's data is told by what fails: killed processes, and databases that refuse rows and quote them when they do.
import { createLog } from '@paylog/runtime/log'
import { createPool } from '@paylog/runtime/postgres'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { type AccessSystem, startAccessSystem } from './accessSystem.ts'
import { type Answer, after, type Client, createClient, dataOf } from './client.ts'
import { assertNoLeaks, leaksInAnswers, leaksInLogs } from './leaks.ts'
import { ada, anonymous, canary, emailOf, g1, g2 } from './people.ts'
import { addressBody, methodBody, paymentBody, plant, type World } from './world.ts'

t.test('what fails tells nothing', async (t) => {
  const system = await startAccessSystem(t)
  const client = createClient(t, system.baseUrl)
  const { ask } = client
  const world = await plant(system, client)
  const ownMethod = world.things.method.find(({ owner }) => owner === 'ada')?.id ?? ''
  const pool = createPool({
    databaseUrl: system.databaseUrl,
    applicationName: 'sabotage',
    max: 1,
    log: createLog({ app: 'test', level: 'silent' }),
  })
  t.teardown(() => pool.end())

  t.test('a projector that is killed, and a database that refuses its rows', async (t) => {
    await system.kill('projector')
    const added = await ask(ada, 'POST', '/addresses', { body: addressBody('ada') })
    const stale = await ask(ada, 'GET', `/addresses/${idOf(added)}`)
    t.same([stale.status, stale.headers['x-read-stale']], [404, 'true'])
    await pay(client, world)
    await ask(ada, 'PUT', `/payment-methods/${ownMethod}`, { body: { alias: canary('ada', 'alias') } })
    const tables = ['addresses_v1', 'payment_methods_v1', 'payments_v1']
    for (const table of tables)
      await pool.query(`alter table read_models.${table} add constraint refused check (created_at is null) not valid`)
    await system.start('projector')
    const hasFailed = (table: string) =>
      system
        .written()
        .get('projector')
        ?.split('\n')
        .some((line) => line.includes('refused') && line.includes(table))
    await waitFor(() => tables.every(hasFailed), { what: 'the projector to fail' })
    for (const table of tables) await pool.query(`alter table read_models.${table} drop constraint refused`)
    await waitFor(async () => (await ask(ada, 'GET', `/addresses/${idOf(added)}`, after(added))).status === 200, {
      what: 'the projector to go on',
      timeoutMs: 20_000,
    })
    t.same([...leaksInAnswers(client), ...leaksInLogs(system)], [])
  })

  t.test('an event store that is killed, and whose database refuses events', async (t) => {
    await pool.query('alter table event_store.events add constraint refused check (position < 0) not valid')
    const refused = await Promise.all([
      ask(ada, 'POST', '/addresses', { body: addressBody('ada') }),
      ask(g1, 'POST', '/payments/intents', { body: paymentBody('g1', emailOf.g1) }),
      ask(ada, 'PUT', `/payment-methods/${ownMethod}`, { body: { alias: canary('ada', 'another.alias') } }),
    ])
    for (const { asked, status } of refused) t.ok(status >= 500, `${asked}: ${status}`)
    await pool.query('alter table event_store.events drop constraint refused')
    await system.kill('event-store-node')
    const asked = [
      ask(ada, 'POST', '/addresses', { body: addressBody('ada') }),
      ask(g2, 'POST', '/payment-methods', { body: methodBody('g2') }),
    ]
    await system.start('event-store-node')
    for (const { status, asked: what } of await Promise.all(asked))
      t.ok(status < 300 || status === 503, `${what}: ${status}`)
    t.same([...leaksInAnswers(client), ...leaksInLogs(system)], [])
  })

  t.test('a worker whose database refuses deliveries, and an endpoint that is out of order', async (t) => {
    await pool.query('alter table webhooks.deliveries add constraint refused check (created_at is null) not valid')
    const paid = await pay(client, world)
    await waitFor(() => system.written().get('worker')?.includes('refused'), { what: 'the worker to fail' })
    await pool.query('alter table webhooks.deliveries drop constraint refused')
    await settle(system, client, paid)
    const { canonical, failing } = system.endpoints
    const told = (id: string) =>
      canonical.received.some(({ body }) => body.includes(id) && body.includes('payment.succeeded'))
    await waitFor(() => told(idOf(paid)) && failing.received.length > 2, { what: 'the webhooks', timeoutMs: 20_000 })
    await assertNoLeaks(t, system, client, world)
  })
})

const idOf = (answer: Answer) => String(dataOf(answer).id)

async function pay({ ask }: Client, { payers }: World): Promise<Answer> {
  const answer = await ask(ada, 'POST', '/payments/intents', { body: paymentBody('ada', emailOf.g1) })
  payers.set(idOf(answer), emailOf.ada)
  return answer
}

async function settle(system: AccessSystem, { ask }: Client, payment: Answer): Promise<void> {
  const id = dataOf(payment).provider_intent_id
  const object = { id, amount: 1200, currency: 'eur', status: 'succeeded', customer: null }
  const event = { id: 'evt_paid', type: 'payment_intent.succeeded', data: { object } }
  const { status, text } = await ask(anonymous, 'POST', '/webhooks/sandbox', system.notification(event))
  if (status !== 200) throw new Error(`the receiver: ${status}: ${text}`)
}
