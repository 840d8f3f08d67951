// The ways in which providers throttle, and calls that wait for our own rate limit.
import { startFakeAuthorizeNet } from '@paylog/testing/authorize-net/fakeAuthorizeNet'
import { startFakePaypal } from '@paylog/testing/paypal/fakePaypal'
import { startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import t, { type Test } from 'tap'
import type { Provider } from './provider.ts'
import { intent } from './testing/contractOperations.ts'
import { connect } from './testing/providerHarness.ts'

// They wait for most of their time.
t.jobs = 3

type Throttled = { readonly provider: Provider; readonly calls: () => number }

/** Each provider, which throttles the next three calls in its different ways. */
const throttled: Readonly<Record<string, (t: Test) => Promise<Throttled>>> = {
  async stripe(t) {
    const fake = await startFakeStripe(t)
    const error = (code: string, headers = {}) => ({
      status: 429,
      error: { type: 'invalid_request_error', code, message: 'Slow down' } as const,
      headers,
    })
    const inASecond = new Date(Date.now() + 1_000).toUTCString()
    fake.failNext(error('rate_limit'), error('lock_timeout'), error('rate_limit', { 'retry-after': inASecond }))
    return { provider: await connect(t, fake.env, { timeoutMs: 10_000 }), calls: () => fake.calls.length }
  },
  async paypal(t) {
    const fake = await startFakePaypal(t)
    const fault = { kind: 'status', status: 429, commits: false } as const
    fake.faults.next(fault, { ...fault, retryAfter: '0' })
    fake.tokenFaults.next(fault)
    return { provider: await connect(t, fake.env, { timeoutMs: 10_000 }), calls: () => fake.calls.length }
  },
  async 'authorize-net'(t) {
    const fake = await startFakeAuthorizeNet(t)
    fake.failNext('E00053')
    fake.faults.next(
      { kind: 'status', status: 429, commits: false },
      { kind: 'status', status: 503, commits: false, retryAfter: '0' },
    )
    return { provider: await connect(t, fake.env, { timeoutMs: 10_000 }), calls: () => fake.calls.length }
  },
}

for (const [id, start] of Object.entries(throttled))
  t.test(`${id}: a call that is throttled in each of its ways is repeated and succeeds [10.2-throttled]`, async (t) => {
    const { provider, calls } = await start(t)
    await provider.createIntent(intent)
    t.ok(calls() > 3, `${calls()} calls`)
  })

t.test('paypal: a throttled signature verification is retried', async (t) => {
  const fake = await startFakePaypal(t)
  const paypal = await connect(t, fake.env)
  await paypal.createIntent(intent)
  const event = fake.approve([...fake.orders.keys()][0] ?? '')
  fake.verificationFaults.next({ kind: 'status', status: 429, commits: false })
  const { headers, body } = fake.signed(event)
  await paypal.verifyNotification({ headers, body: Buffer.from(body), now: new Date() })
})
