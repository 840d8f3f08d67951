// Saving a card at Stripe, paying with it, and detaching it.
import { paymentStream } from '@paylog/event-store/streamName'
import type { Fault } from '@paylog/testing/fakeServer'
import { startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import t from 'tap'
import { ada as asAda, grace as asGrace, guest as asGuest, freshKey } from '../testing/commandApiHarness.ts'
import { providerFromEnv } from '../testing/fakeProviders.ts'
import { receiverHarness } from '../testing/receiverHarness.ts'

const fake = await startFakeStripe(t)
const provider = await providerFromEnv(t, fake.env)
const { app, send, historyOf, reconcile, typesOf, time } = await receiverHarness(t, provider)

t.beforeEach(() => {
  fake.faults.always(undefined)
  time.now = () => new Date()
})

const guest_data = { email: 'guest@example.com' }
const body = { total_cents: 2599, currency: 'USD' }

/** Saves a new card. @returns our id and Stripe's id */
async function save(headers: Record<string, string>) {
  const { id: token } = fake.addMethod({ brand: 'visa', last4: '4242' })
  const payload = { payment_method_token: token, alias: 'Mine' }
  const response = await app.inject({ method: 'POST', url: '/payment-methods', headers, payload })
  return { id: String(response.json().data.id), token }
}
const pay = (payload: object, headers: Record<string, string>) =>
  app.inject({ method: 'POST', url: '/payments/intents', headers, payload: { ...body, ...payload } })
/** The key, customer and method of each create call of a payment. */
const creations = (payment: string) =>
  fake.calls
    .filter(({ path, params }) => path === '/v1/payment_intents' && params['metadata[payment_id]'] === payment)
    .map(({ key, params }) => JSON.stringify([key, params.customer ?? null, params.payment_method]))
const intentsOf = (payment: string) => fake.intents().filter(({ metadata }) => metadata.payment_id === payment)

t.test('a saved card can be paid with until Stripe reports it detached', async (t) => {
  const { id: payment_method_id, token } = await save(asAda)
  const { customer } = fake.method(token)
  t.match(customer, /^cus_/)
  const headers = { ...asAda, ...freshKey() }
  const first = await pay({ payment_method_id }, headers)
  t.equal(first.statusCode, 201)
  const { data } = first.json()
  t.match(data.payment_method, { id: payment_method_id, card_brand: 'visa', last_four: '4242', alias: 'Mine' })
  t.match(fake.intent(data.provider_intent_id), { customer, payment_method: token })

  const paid = fake.pay(data.provider_intent_id, 'succeeded').find(({ type }) => type === 'payment_intent.succeeded')
  t.same(await send(fake.signed(paid ?? {})), [200, undefined])
  t.same(await historyOf(data.id), ['PaymentSucceeded'])

  const [detached] = fake.detachMethod(token)
  t.same(await send(fake.signed(detached ?? {})), [200, undefined])
  t.same(await typesOf(`paymentMethod-${payment_method_id}`), ['PaymentMethodAdded', 'PaymentMethodRemoved'])
  const url = `/payment-methods/${payment_method_id}`
  const change = { method: 'PUT', url, headers: asAda, payload: { alias: 'Other' } } as const
  t.equal((await app.inject(change)).statusCode, 404)
  t.match((await pay({ payment_method_id }, asAda)).json(), { error: { code: 'reference_not_found' } })
  const replay = await pay({ payment_method_id }, headers)
  t.same([replay.statusCode, replay.json().data.payment_method], [201, data.payment_method])
})

t.test("a payment cannot name a saved card by Stripe's id", async (t) => {
  const { token } = await save(asAda)
  for (const headers of [asAda, asGrace, {}])
    t.match((await pay({ payment_method_id: token }, headers)).json(), { error: { code: 'reference_not_found' } })
})

t.test("a guest's card can be paid with without a Stripe customer", async (t) => {
  const { id: payment_method_id, token } = await save(asGuest)
  const { data } = (await pay({ payment_method_id, guest_data }, asGuest)).json()
  t.match(data.payment_method, { id: payment_method_id, last_four: '4242' })
  t.match(fake.intent(data.provider_intent_id), { customer: null, payment_method: token })
})

t.test('repeated create calls with a saved card are identical and give one intent', async (t) => {
  const faults: Fault[] = [
    { kind: 'drop', commits: true },
    { kind: 'drop', commits: false },
    { kind: 'garbage', commits: true },
    { kind: 'status', status: 500, commits: false },
  ]
  for (const fault of faults) {
    const name = JSON.stringify(fault)
    const { id: payment_method_id, token } = await save(asAda)
    const { customer } = fake.method(token)
    fake.faults.always(fault)
    const lost = await pay({ payment_method_id }, { ...asAda, ...freshKey() })
    t.equal(lost.statusCode, 504, name)
    const { payment_id: id } = lost.json().error.details
    const before = creations(id).length
    fake.faults.always(undefined)
    time.now = () => new Date(Date.now() + 60_000)
    t.match(await reconcile(id), { finding: 'late' }, name)
    t.ok(creations(id).length > before, `${name}: the call is repeated`)
    t.same(new Set(creations(id)), new Set([JSON.stringify([id, customer, token])]), name)
    t.match(intentsOf(id), [{ customer, payment_method: token }], name)
    t.equal(intentsOf(id).length, 1, name)
    t.same(await typesOf(paymentStream(id)), ['PaymentInitiated', 'ProviderOutcomeUnknown', 'ProviderIntentCreated'])
  }
})
