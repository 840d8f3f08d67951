import { createFakeProvider, fails, passes } from '@paylog/deliveries/testing/fakeProvider'
import { paymentStream } from '@paylog/event-store/streamName'
import { startEventStore } from '@paylog/testing/eventStore'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { createReconcilerHarness } from '../testing/reconcilerHarness.ts'

const second = 1_000
const harness = await createReconcilerHarness(t, await startEventStore(t))
const inAMinute = () => new Date(harness.now().getTime() + 60 * second).toISOString()
const statusOf = async (id: string) => (await harness.payment(id)).status
const planned = (id: string) =>
  waitFor(async () => (await harness.entry(paymentStream(id)))?.expire, { what: `the planned expiry of ${id}` })

t.test('a payment that nobody paid in time is canceled at the provider, and no longer watched', async (t) => {
  const provider = createFakeProvider(t)
  await harness.startWorker(t, provider)
  const [id, paid] = [
    await harness.open(provider, { expires_at: inAMinute() }),
    await harness.open(provider, { expires_at: inAMinute() }),
  ]
  const never = await harness.open(provider)
  provider.set(`intent-1-${paid}`, 'succeeded')
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
  const provider = createFakeProvider(t)
  await harness.startWorker(t, provider)
  const id = await harness.open(provider, { expires_at: inAMinute() })
  await planned(id)
  provider.after = fails('unknown')
  harness.forward(61 * second)
  await waitFor(async () => (await harness.eventsOf(id)).includes('ProviderCallFailed'), { what: 'the lost response' })
  t.equal(await statusOf(id), 'pending', 'it is not said to be canceled before the provider says so')
  provider.after = passes
  harness.forward(61 * second)
  await waitFor(async () => (await statusOf(id)) === 'canceled', { what: 'the cancellation' })
})

t.test('by a clock that differs from another nothing expires, and within 30 s of their agreeing it does', async (t) => {
  const compared = await createReconcilerHarness(t, harness, true)
  const hour = 3_600_000
  const aheadOf = (ms: number) => async () => new Date(Date.now() - ms)
  let providersClock = aheadOf(0)
  const provider = createFakeProvider(t, { readTime: async () => providersClock() })
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
  for (const wrong of [aheadOf(hour), aheadOf(-hour), fails('unavailable')]) {
    compared.lines.length = 0
    providersClock = wrong
    await waiting(provider.id)
  }
  const canceled = async () => (await compared.payment(id)).status === 'canceled'
  t.equal(await canceled(), false)
  t.notOk(provider.calls.some((call) => call.includes('cancel')))
  providersClock = aheadOf(0)
  await waitFor(canceled, { what: 'the cancellation', timeoutMs: 30_000 })
  t.equal((await compared.payment(later)).status, 'pending')
})
