// Setup intents at a fake Stripe, over its wire format.

import { startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import t from 'tap'
import { commandApiHarness, freshKey } from '../testing/commandApiHarness.ts'
import { providerFromEnv, providerTimeoutMs } from '../testing/fakeProviders.ts'
import { linkCustomer } from '../testing/setupIntentsHarness.ts'

const fake = await startFakeStripe(t)
const provider = await providerFromEnv(t, fake.env)
const { app, store } = await commandApiHarness(t, { providers: [provider] })
const url = await app.listen({ host: '127.0.0.1', port: 0 })

t.beforeEach(() => fake.faults.always(undefined))

async function post(headers: Record<string, string> = {}, session = 'demo-session') {
  const response = await fetch(`${url}/payment-methods/setup-intent`, {
    method: 'POST',
    headers: { 'x-session-id': session, ...headers },
  })
  const json: unknown = await response.json()
  const { setup_intent_id, error } = json as { setup_intent_id?: string; error?: { code: string } }
  const replayed = response.headers.get('idempotent-replayed') === 'true'
  return { status: response.status, replayed, json, setup_intent_id, code: error?.code }
}
const created = () => fake.calls.filter(({ path, method }) => path === '/v1/setup_intents' && method === 'POST')
const recorded = async () => {
  const events = []
  for await (const { event } of store.client.readAll()) if (event?.type === 'SetupIntentCreated') events.push(event)
  return events
}

t.test('a Stripe setup intent has the id and secret that a client needs to confirm it [1-setup-intents]', async (t) => {
  const { status, json, setup_intent_id } = await post()
  t.equal(status, 201)
  t.match(json, { success: true, setup_intent_id: /^seti_/, client_secret: /^seti_\w+_secret_/ })
  t.same(Object.keys(Object(json)).toSorted(), ['client_secret', 'setup_intent_id', 'success'])
  t.equal(created().at(-1)?.params.customer, undefined)
  t.notOk(
    fake.calls.some(({ path }) => path.startsWith('/v1/customers')),
    'no customer is created',
  )
  t.ok(setup_intent_id && fake.confirmSetup(setup_intent_id, fake.addMethod().id))
})

t.test("a Stripe setup intent uses the user's customer, unless it was deleted at Stripe", async (t) => {
  const user_id = '00000000-0000-4000-8000-000000000002'
  const customer = await provider.methods?.createCustomer({ idempotency_key: 'c1', user_id, email: null, name: null })
  if (!customer) throw new Error('no customer')
  await linkCustomer(store, { provider_id: 'stripe', user_id, provider_customer_id: customer })
  t.equal((await post({}, 'demo-session-2')).status, 201)
  t.equal(created().at(-1)?.params.customer, customer)
  fake.deleteCustomer(customer)
  t.equal((await post({}, 'demo-session-2')).status, 201)
  t.equal(created().at(-1)?.params.customer, undefined)
})

t.test('64 concurrent identical requests create one Stripe setup intent', async (t) => {
  const before = (await recorded()).length
  fake.faults.next({ kind: 'slow', ms: 100 })
  const headers = freshKey()
  const responses = await Promise.all(Array.from({ length: 64 }, () => post(headers)))
  t.same([...new Set(responses.map(({ status }) => status))], [201])
  t.equal(new Set(responses.map(({ setup_intent_id }) => setup_intent_id)).size, 1)
  t.equal(responses.filter(({ replayed }) => !replayed).length, 1)
  t.equal((await recorded()).length, before + 1)
})

t.test('a Stripe setup intent is retried after a lost response, and is 504 if none arrives', async (t) => {
  for (const fault of [
    { kind: 'drop', commits: true },
    { kind: 'garbage', commits: true },
    { kind: 'status', status: 500, commits: true },
  ] as const) {
    fake.faults.next(fault)
    t.equal((await post()).status, 201, fault.kind)
    fake.faults.always(fault)
    const headers = freshKey()
    const before = (await recorded()).length
    t.match(await post(headers), { status: 504, code: 'provider_outcome_unknown' }, fault.kind)
    t.equal((await recorded()).length, before)
    fake.faults.always(undefined)
    t.match(await post(headers), { status: 201, replayed: false })
    t.match(await post(headers), { status: 201, replayed: true })
  }
  fake.faults.always({ kind: 'hang', commits: false })
  const started = performance.now()
  t.equal((await post()).status, 504)
  t.ok(performance.now() - started < providerTimeoutMs + 5_000)
})

t.test('a setup intent that Stripe rejects is reported with its code', async (t) => {
  const error = { message: 'Text of Stripe', type: 'invalid_request_error' } as const
  fake.failNext({ status: 400, error })
  t.match(await post(), { status: 422, code: 'provider_rejected' })
  fake.failNext({ status: 401, error })
  const { status, code, json } = await post()
  t.same([status, code], [502, 'provider_unavailable'])
  t.notMatch(JSON.stringify(json), /Text of/)
  fake.shut()
  t.match(await post(), { status: 502, code: 'provider_unavailable' })
  await fake.open()
  t.equal((await post()).status, 201)
})
