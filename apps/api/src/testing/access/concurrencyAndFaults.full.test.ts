// Under concurrency and faults, each list has one default and no data leaks.

import { createPool } from '@paylog/runtime/postgres/pool'
import { createLog } from '@paylog/runtime/telemetry/log'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'
import { type AccessFixture, addressBody, createAccessFixture, methodBody, paymentBody } from './accessFixture.ts'
import {
  type AccessHarness,
  type ApiResponse,
  after,
  type Client,
  createClient,
  dataOf,
  listOf,
  startAccessHarness,
} from './accessHarness.ts'
import { assertNoLeaks, leaksInLogs, leaksInResponses } from './leaks.ts'
import { ada, anonymous, type Caller, canary, emailOf, g1, g1Second, g1Upper, g2 } from './people.ts'

const idOf = (response: ApiResponse) => String(dataOf(response).id)

/** Polls a list until stopped. @returns the number of polls, and every response with more than one default */
function pollForDefaults(
  { send }: Client,
  caller: Caller,
  path: string,
  list: (item: Readonly<Record<string, unknown>>) => unknown,
) {
  let stopped = false
  const wrong: string[] = []
  let polls = 0
  const watching = (async () => {
    while (!stopped) {
      const response = await send(caller, 'GET', path)
      polls++
      const defaults = listOf(response).filter((item) => item.is_default === true)
      if (new Set(defaults.map(list)).size < defaults.length) wrong.push(response.text)
    }
  })()
  return async () => {
    stopped = true
    await watching
    return { polls, wrong }
  }
}

const rounds = 4
const putsAtOnce = 16

/** Rounds of concurrent PUTs that each make another item the default, while the list is polled. */
async function contestDefault(
  t: Test,
  client: Client,
  callers: readonly Caller[],
  path: string,
  ids: readonly string[],
) {
  const { send } = client
  const [reader = ada] = callers
  const stop = pollForDefaults(client, reader, `${path}?limit=50`, (item) => item.address_type ?? 'method')
  t.teardown(stop)
  const puts: ApiResponse[] = []
  for (let round = 0; round < rounds; round++) {
    const atOnce = Array.from({ length: putsAtOnce }, (_, n) => {
      const caller = callers[n % callers.length] ?? reader
      return send(caller, 'PUT', `${path}/${ids[(n + round) % ids.length]}`, { body: { is_default: true } })
    })
    puts.push(...(await Promise.all(atOnce)))
    const settled = await send(reader, 'GET', `${path}?limit=50`, after(...puts))
    t.notOk(settled.headers['x-read-stale'], 'the read is up to date')
    const lists = Map.groupBy(listOf(settled), ({ address_type }) => address_type)
    for (const [type, items] of lists)
      t.equal(items.filter((item) => item.is_default === true).length, 1, `${path}: ${type}: round ${round}`)
    const singles = await Promise.all(ids.map((id) => send(reader, 'GET', `${path}/${id}`)))
    t.same(
      singles.map((one) => [dataOf(one).id, dataOf(one).is_default]).sort(),
      listOf(settled)
        .map(({ id, is_default }) => [id, is_default])
        .sort(),
      'the single resources agree with the list',
    )
  }
  const { polls, wrong } = await stop()
  for (const { status, json, text } of puts.filter(({ status }) => status !== 200))
    t.match({ status, json }, { status: 409, json: { error: { code: 'concurrent_modification' } } }, text)
  t.comment(`${path}: ${polls} polls, ${puts.filter(({ status }) => status === 200).length} of ${puts.length} PUTs`)
  t.same(wrong, [], 'no response shows two defaults')
  t.ok(polls > rounds, 'the list was polled during the PUTs')
}

t.test('concurrency and faults leave one default per list and leak nothing', async (t) => {
  const system = await startAccessHarness(t)
  const client = createClient(t, system.baseUrl, putsAtOnce + 2)
  const { send } = client
  const add = async (caller: Caller, path: string, bodies: readonly object[]) => {
    const ids: string[] = []
    for (const body of bodies) ids.push(idOf(await send(caller, 'POST', path, { body })))
    return ids
  }
  /** So that they can be saved again. */
  const remove = async (caller: Caller, ids: readonly string[]) => {
    for (const id of ids) t.equal((await send(caller, 'DELETE', `/payment-methods/${id}`)).status, 200)
  }
  const cards = ['pm_card_visa', 'pm_card_mastercard', 'pm_card_amex']

  await t.test(
    'concurrent changes leave one default among the payment methods of a user [10.3-one-default]',
    async (t) => {
      const ids = await add(
        ada,
        '/payment-methods',
        cards.map((card) => methodBody('ada', card)),
      )
      const listed = listOf(await send(ada, 'GET', '/payment-methods'))
      t.same(
        listed.map(({ is_default }) => is_default),
        [false, false, false],
        'the first method is not the default automatically',
      )
      await contestDefault(t, client, [ada], '/payment-methods', ids)
      await remove(ada, ids)
    },
  )

  await t.test('concurrent changes with several guest tokens leave one default payment method', async (t) => {
    const ids = await add(
      g1,
      '/payment-methods',
      cards.map((card) => methodBody('g1', card)),
    )
    await contestDefault(t, client, [g1, g1Second, g1Upper], '/payment-methods', ids)
    await remove(g1, ids)
  })

  await t.test('concurrent changes leave one default address of each type', async (t) => {
    const bodies = Array.from({ length: 8 }, (_, n) =>
      addressBody('ada', { address_type: n % 2 === 0 ? 'billing' : 'shipping', is_default: true }),
    )
    await contestDefault(t, client, [ada], '/addresses', await add(ada, '/addresses', bodies))
  })

  await t.test('addresses created concurrently as default leave one default', async (t) => {
    const stop = pollForDefaults(client, g1, '/addresses?limit=50', (item) => item.address_type)
    t.teardown(stop)
    const made = await Promise.all(
      Array.from({ length: putsAtOnce }, (_, n) => {
        const caller = [g1, g1Second, g1Upper][n % 3] ?? g1
        return send(caller, 'POST', '/addresses', {
          body: addressBody('g1', { is_default: true, alias: canary('g1', `n${n}`) }),
        })
      }),
    )
    t.same(new Set(made.map(({ status }) => status)), new Set([201]))
    const listed = listOf(await send(g1, 'GET', '/addresses?limit=50', after(...made)))
    t.equal(listed.length, putsAtOnce)
    t.equal(listed.filter(({ is_default }) => is_default).length, 1)
    t.same((await stop()).wrong, [])
  })

  // Created late, because `contestDefault` needs lists that contain nothing else.
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
