// Stripe replays even its own errors for a key, so repeating the call cannot find the intent.
import { paymentStream } from '@paylog/event-store/streamName'
import { startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import { reconcilePayment } from '@paylog/workflows/payments/reconcilePayment'
import t from 'tap'
import { commandApiHarness } from '../testing/commandApiHarness.ts'
import { providerFromEnv } from '../testing/fakeProviders.ts'

let passedMs = 0
const now = () => new Date(Date.now() + passedMs)
const fake = await startFakeStripe(t, { now })
const provider = await providerFromEnv(t, fake.env)
const { app, store, time, workflow } = await commandApiHarness(t, { providers: [provider] })
time.now = now

t.beforeEach(() => {
  passedMs = 0
  fake.catchUpSearch()
})

let keys = 0
async function openWithStripeError({ commits }: { readonly commits: boolean }) {
  const headers = { 'idempotency-key': `kept-${keys++}` }
  const open = () =>
    app.inject({ method: 'POST', url: '/payments/intents', headers, payload: { total_cents: 2599, currency: 'USD' } })
  fake.failInside({ commits })
  const lost = await open()
  const { code, details } = lost.json().error
  return { open, status: lost.statusCode, code, id: String(details.payment_id) }
}
const reconcile = (paymentId: string) =>
  reconcilePayment(workflow, paymentId, { correlationId: 'test', causationId: 'test', actor: 'worker' })
const intentsOf = (id: string) => fake.intents().filter(({ metadata }) => metadata.payment_id === id)
const typesOf = async (id: string) => (await store.readStream(paymentStream(id))).map(({ type }) => type)
const hourMs = 60 * 60 * 1000

t.test(
  'an intent behind a replayed Stripe error is found by search once Stripe indexes it [10.2-kept-errors]',
  async (t) => {
    fake.delaySearch()
    const { open, status, code, id } = await openWithStripeError({ commits: true })
    t.same([status, code], [504, 'provider_outcome_unknown'])
    for (let n = 0; n < 2; n++) t.match(await reconcile(id), { finding: 'unknown', payment: { status: 'pending' } })
    t.same(await typesOf(id), ['PaymentInitiated', 'ProviderOutcomeUnknown'])
    fake.catchUpSearch()
    const [intent] = intentsOf(id)
    t.match(await reconcile(id), { finding: 'late', payment: { provider_intent_id: intent?.id } })
    t.equal(intentsOf(id).length, 1)
    t.match((await open()).json(), { data: { id, status: 'pending', client_secret: intent?.client_secret } })
    t.same(await typesOf(id), ['PaymentInitiated', 'ProviderOutcomeUnknown', 'ProviderIntentCreated'])
    fake.pay(String(intent?.id), 'succeeded')
    await reconcile(id)
    t.match((await open()).json(), { data: { id, status: 'succeeded' } }, 'the key returns the current state')
  },
)

t.test('an intent that Stripe did not create is requested again after Stripe forgets the key', async (t) => {
  const { id } = await openWithStripeError({ commits: false })
  for (const hours of [0, 1, 6, 23]) {
    passedMs = hours * hourMs
    t.match(await reconcile(id), { finding: 'unknown', payment: { status: 'pending' } }, `after ${hours} h`)
  }
  passedMs = 25 * hourMs
  t.match(await reconcile(id), { finding: 'late', payment: { status: 'pending', provider_intent_id: /^pi_/ } })
  t.equal(intentsOf(id).length, 1)
})

t.test('an intent that Stripe indexes only after forgetting the key is not created twice', async (t) => {
  const { id } = await openWithStripeError({ commits: true })
  passedMs = 25 * hourMs
  const [intent] = intentsOf(id)
  t.match(await reconcile(id), { finding: 'late', payment: { provider_intent_id: intent?.id } })
  t.equal(intentsOf(id).length, 1)
})

t.test('the outcome of a create call is unknown while Stripe runs the first call with its key', async (t) => {
  const busy = {
    status: 409,
    error: { type: 'idempotency_error', code: 'idempotency_key_in_use', message: 'Busy' },
  } as const
  fake.failNext(busy, busy, busy)
  const payload = { total_cents: 2599, currency: 'USD' }
  const response = await app.inject({ method: 'POST', url: '/payments/intents', payload })
  t.equal(response.statusCode, 504)
  const { payment_id } = response.json().error.details
  t.same(await typesOf(payment_id), ['PaymentInitiated', 'ProviderOutcomeUnknown'])
  t.match(await reconcile(payment_id), { finding: 'late' })
})
