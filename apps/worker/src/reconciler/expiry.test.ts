import { fails } from '@paylog/commands/testing/fakeSteps'
import { paymentStream } from '@paylog/event-store/streamName'
import { createPace } from '@paylog/providers/pacing'
import { type IntentRef, type Provider, ProviderError, type WithKey } from '@paylog/providers/provider'
import { withRetries } from '@paylog/providers/retries'
import { withTimeLimit } from '@paylog/providers/timeLimit'
import { startEventStore } from '@paylog/testing/eventStore'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { createReconcilerHarness, fakeProvider } from '../testing/reconcilerHarness.ts'

const second = 1_000
const harness = await createReconcilerHarness(t, await startEventStore(t))
const inAMinute = () => new Date(harness.now().getTime() + 60 * second).toISOString()
const statusOf = async (id: string) => (await harness.payment(id)).status
const planned = (id: string) =>
  waitFor(async () => (await harness.entry(paymentStream(id)))?.expire, { what: `the planned expiry of ${id}` })

t.test('a payment that nobody paid in time is canceled at the provider, and no longer watched', async (t) => {
  const { fake, provider } = fakeProvider(t)
  await harness.startWorker(t, provider)
  const [id, paid] = [
    await harness.open(provider, { expires_at: inAMinute() }),
    await harness.open(provider, { expires_at: inAMinute() }),
  ]
  const never = await harness.open(provider)
  fake.set(paid, 'succeeded')
  await planned(id)
  await planned(paid)
  t.equal(await statusOf(id), 'pending')
  harness.forward(61 * second)
  await waitFor(async () => (await statusOf(id)) === 'canceled', { what: 'the cancellation' })
  await waitFor(async () => (await statusOf(paid)) === 'succeeded', { what: 'the success of the faster payer' })
  const [canceled] = (await harness.store.readStream(paymentStream(id))).slice(-1)
  t.match(canceled, { type: 'PaymentCanceled', data: { reason: 'expired' }, metadata: { actor: 'worker' } })
  harness.forward(31 * second)
  await waitFor(async () => (await harness.entry(paymentStream(id))) === undefined, {
    what: 'the end of its follow-up',
  })
  t.equal(await statusOf(never), 'pending')
})

t.test('an expiry whose cancellation has an unknown outcome is finished', async (t) => {
  const { fake, provider } = fakeProvider(t)
  await harness.startWorker(t, provider)
  const id = await harness.open(provider, { expires_at: inAMinute() })
  await planned(id)
  fake.meanwhile = fails('unknown')
  harness.forward(61 * second)
  await waitFor(async () => (await harness.eventsOf(id)).includes('ProviderCallFailed'), { what: 'the lost response' })
  t.equal(await statusOf(id), 'pending', 'it is not said to be canceled before the provider says so')
  fake.meanwhile = undefined
  harness.forward(61 * second)
  await waitFor(async () => (await statusOf(id)) === 'canceled', { what: 'the cancellation' })
})

const lineOf = (id: string) =>
  waitFor(async () => harness.lines.findLast((line) => line.includes(id) && line.includes('expir')), {
    what: `the log line about the expiry of ${id}`,
  })

t.test('the log says what became of an expiry: canceled, paid, not canceled with the code, or not yet', async (t) => {
  const rejected = async () => {
    throw new ProviderError('rejected', 'intent_locked', 'No')
  }
  for (const [message, before, isPaid] of [
    ['canceled a payment that expired', undefined, false],
    ['the payer was faster than the expiry', undefined, true],
    ['the provider did not cancel a payment that expired', rejected, false],
    ['a payment that expired is not canceled yet', fails('unknown'), false],
  ] as const) {
    const { fake, provider } = fakeProvider(t)
    const { stop } = await harness.startWorker(t, provider)
    const id = await harness.open(provider, { expires_at: inAMinute() })
    await planned(id)
    if (isPaid) fake.set(id, 'succeeded')
    fake.before = before
    harness.forward(61 * second)
    const line = JSON.parse((await lineOf(id)) ?? '')
    t.equal(line.msg, message)
    if (before === rejected) t.match(line, { outcome: 'rejected', failure_code: 'intent_locked', status: 'pending' })
    await stop()
  }
})

t.test('cancellations that the provider throttles keep no other payment from being canceled', async (t) => {
  const pace = createPace({ perSecond: 0 })
  const throttled = new Set<string>()
  const { provider } = fakeProvider(t)
  const { cancelIntent } = provider
  const cancel = async (ref: IntentRef & WithKey) => {
    await pace.acquire()
    if (!throttled.has(ref.payment_id)) return await cancelIntent(ref)
    throw new ProviderError('unavailable', 'rate_limit', 'Slow down', { rateLimit: { retryAfterMs: null } })
  }
  Object.assign(provider, {
    pausedMs: () => pace.pausedMs(),
    cancelIntent: (ref: IntentRef & WithKey) =>
      withTimeLimit(5 * second, () => withRetries({ pace, isRepeatable: true }, () => cancel(ref))),
  })
  const expires_at = inAMinute()
  for (let number = 0; number < 9; number++) throttled.add(await harness.open(provider, { expires_at }))
  const last = await harness.open(provider, { expires_at: new Date(Date.parse(expires_at) + second).toISOString() })
  await harness.startWorker(t, provider)
  await planned(last)
  harness.forward(63 * second)
  await waitFor(async () => (await statusOf(last)) === 'canceled', { what: 'the cancellation', timeoutMs: 20 * second })
  for (const id of throttled) t.equal(await statusOf(id), 'pending')
  throttled.clear()
  harness.forward(60 * second)
})

t.test('by a clock that differs from another nothing expires, and within 30 s of their agreeing it does', async (t) => {
  const compared = await createReconcilerHarness(t, harness, true)
  const hour = 3_600_000
  const aheadOf = (ms: number) => async () => new Date(Date.now() - ms)
  let providersClock = aheadOf(0)
  const { fake, provider: timeless } = fakeProvider(t)
  const provider: Provider = { ...timeless, readTime: async () => await providersClock() }
  await compared.startWorker(t, provider)
  const soon = new Date(Date.now() + 2_000).toISOString()
  const id = await compared.open(provider, { expires_at: soon })
  const later = await compared.open(provider, { expires_at: new Date(Date.now() + hour).toISOString() })
  await waitFor(async () => (await compared.entry(paymentStream(later)))?.expire, { what: 'the planned expiry' })
  const waiting = (clock: string) =>
    waitFor(() => compared.lines.some((line) => line.includes(`"clock":"${clock}"`)), { what: `the wait for ${clock}` })
  compared.forward(26 * hour)
  await Promise.all(['event store', 'database', provider.id].map(waiting))
  t.match(compared.lines.join(''), /"ahead_seconds":93[56]\d\d/)
  compared.forward(-26 * hour)
  for (const wrong of [aheadOf(hour), aheadOf(-hour), () => fails('unavailable')('readTime')]) {
    compared.lines.length = 0
    providersClock = wrong
    await waiting(provider.id)
  }
  const canceled = async () => (await compared.payment(id)).status === 'canceled'
  t.equal(await canceled(), false)
  t.notOk(fake.calls.some((call) => call.includes('cancel')))
  providersClock = aheadOf(0)
  await waitFor(canceled, { what: 'the cancellation', timeoutMs: 30_000 })
  t.equal((await compared.payment(later)).status, 'pending')
})
