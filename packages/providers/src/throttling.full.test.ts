// Calls that a provider throttles, and calls that wait for our own rate limit.
import { type FakeAuthorizeNet, startFakeAuthorizeNet } from '@paylog/testing/authorize-net/fakeAuthorizeNet'
import { startFakePaypal } from '@paylog/testing/paypal/fakePaypal'
import { startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import t, { type Test } from 'tap'
import { withPriority } from './pacing.ts'
import type { CreateIntent, IntentRef, Provider, ProviderError } from './provider.ts'
import { connectAuthorizeNet, connectPaypal, connectStripe } from './testing/providerHarness.ts'

// They wait for most of their time.
t.jobs = 3

const payment_id = '018f2a3b-4c5d-7e6f-8a9b-0c1d2e3f4a5b'
const intent: CreateIntent = {
  payment_id,
  idempotency_key: payment_id,
  amount_cents: 2599,
  currency: 'USD',
  description: null,
  capture_method: 'automatic',
  return_url: null,
  cancel_url: null,
  statement_descriptor: null,
  provider_method_id: null,
  provider_customer_id: null,
}
const refTo = (provider_intent_id: string): IntentRef => ({
  payment_id,
  provider_intent_id,
  provider_payment_id: null,
  currency: 'USD',
  capture_method: 'automatic',
  created_at: new Date(Date.now() - 1_000).toISOString(),
})
const missing = { provider_method_id: '100000001', provider_customer_id: '100000002' }

type Throttled = { readonly throttle: () => void; readonly calls: () => number; readonly provider: Provider }

/** Each provider, with a function that throttles its next three calls in its different ways. */
const providers: Readonly<Record<string, (t: Test, timeoutMs: number) => Promise<Throttled>>> = {
  async stripe(t, timeoutMs) {
    const fake = await startFakeStripe(t)
    const throttledError = (code: string, headers = {}) => ({
      status: 429,
      error: { type: 'invalid_request_error', code, message: 'Slow down' } as const,
      headers,
    })
    const inASecond = new Date(Date.now() + 1_000).toUTCString()
    const throttle = () =>
      fake.failNext(
        throttledError('rate_limit'),
        throttledError('lock_timeout'),
        throttledError('rate_limit', { 'retry-after': inASecond }),
      )
    return { throttle, calls: () => fake.calls.length, provider: connectStripe(t, fake, { timeoutMs }) }
  },
  async paypal(t, timeoutMs) {
    const fake = await startFakePaypal(t)
    const fault = { kind: 'status', status: 429, commits: false } as const
    const throttle = () => {
      for (const plan of [fake.faults, fake.readFaults]) plan.next(fault, { ...fault, retryAfter: '0' })
      fake.tokenFaults.next(fault)
    }
    return { throttle, calls: () => fake.calls.length, provider: connectPaypal(t, fake, { timeoutMs }) }
  },
  async 'authorize-net'(t, timeoutMs) {
    const fake = await startFakeAuthorizeNet(t)
    const throttle = () => {
      fake.failNext('E00053')
      for (const plan of [fake.faults, fake.readFaults])
        plan.next(
          { kind: 'status', status: 429, commits: false },
          { kind: 'status', status: 503, commits: false, retryAfter: '0' },
        )
    }
    return { throttle, calls: () => fake.calls.length, provider: connectAuthorizeNet(t, fake, { timeoutMs }) }
  },
}

for (const [id, start] of Object.entries(providers))
  t.test(`${id}: throttled calls about payments and methods are retried and succeed`, async (t) => {
    const { provider, throttle, calls } = await start(t, 10_000)
    const throttled = async <Result>(name: string, call: () => Promise<Result>) => {
      const before = calls()
      throttle()
      const result = await call()
      t.ok(calls() - before >= 3, `${name} was throttled`)
      return result
    }
    const { provider_intent_id } = await throttled('createIntent', () => provider.createIntent(intent))
    t.match(await throttled('retrieveIntent', async () => provider.retrieveIntent?.(refTo(provider_intent_id))), {
      evidence: { status: 'pending' },
    })
    const { createSetupIntent: setUp, methods } = provider
    if (setUp) await throttled('createSetupIntent', () => setUp({ idempotency_key: 's1', provider_customer_id: null }))
    await throttled('detachMethod', async () => methods?.detachMethod(missing))
  })

for (const [id, start] of Object.entries(providers))
  t.test(`${id}: a call that is throttled until its time is over is unavailable`, async (t) => {
    const { provider, throttle } = await start(t, 1_000)
    const startedAt = performance.now()
    for (let n = 0; n < 10; n++) throttle()
    await t.rejects(provider.createIntent(intent), {
      name: 'ProviderError',
      kind: 'unavailable',
    } satisfies Partial<ProviderError>)
    t.ok(performance.now() - startedAt >= 600, 'only after its time is over')
  })

t.test('authorize-net: a 503 without retry-after leaves the outcome unknown', async (t) => {
  const fake: FakeAuthorizeNet = await startFakeAuthorizeNet(t)
  fake.faults.always({ kind: 'status', status: 503, commits: false })
  const provider = connectAuthorizeNet(t, fake, { timeoutMs: 500 })
  await t.rejects(provider.createIntent(intent), { kind: 'unknown', code: 'http_503' })
})

t.test('paypal: a throttled signature verification is retried', async (t) => {
  const fake = await startFakePaypal(t)
  const paypal = connectPaypal(t, fake)
  await paypal.createIntent(intent)
  const event = fake.approve([...fake.orders.keys()][0] ?? '')
  fake.verificationFaults.next({ kind: 'status', status: 429, commits: false })
  const { headers, body } = fake.signed(event)
  await paypal.verifyNotification({ headers, body: Buffer.from(body), now: new Date() })
})

t.test('a payment’s call starts at once while the reconciler’s calls wait for the rate limit', async (t) => {
  const fake = await startFakeStripe(t)
  const stripe = connectStripe(t, fake, { maxPerSecond: 10, timeoutMs: 5_000 })
  const { provider_intent_id } = await stripe.createIntent(intent)
  const startedAt = performance.now()
  const reconciling = withPriority('reconciler', () =>
    Promise.all(Array.from({ length: 12 }, () => stripe.retrieveIntent?.(refTo(provider_intent_id)))),
  )
  await stripe.createIntent({ ...intent, idempotency_key: 'second' })
  t.ok(performance.now() - startedAt < 700, `${performance.now() - startedAt} ms`)
  await reconciling
  t.ok(performance.now() - startedAt > 1_900, 'the reconciler gets half of the rate')
})
