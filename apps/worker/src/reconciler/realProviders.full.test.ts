// The reconciler with the real provider adapters against fake servers.
import { paymentStream } from '@paylog/event-store/streamName'
import type { Provider } from '@paylog/providers/provider'
import { connectAuthorizeNet, connectPaypal, connectStripe } from '@paylog/providers/testing/providerHarness'
import { startFakeAuthorizeNet } from '@paylog/testing/authorize-net/fakeAuthorizeNet'
import type { FaultPlan } from '@paylog/testing/fakeServer'
import { startFakePaypal } from '@paylog/testing/paypal/fakePaypal'
import { startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { createReconcilerHarness, reconcileAfterMs } from '../testing/reconcilerHarness.ts'

const second = 1_000
const timeoutMs = 2_000
const harness = await createReconcilerHarness(t)
const fakeStripe = await startFakeStripe(t, { now: harness.now })
const fakePaypal = await startFakePaypal(t)
const fakeGateway = await startFakeAuthorizeNet(t)
const stripe = connectStripe(t, fakeStripe, { timeoutMs })
const paypal = connectPaypal(t, fakePaypal, { timeoutMs })
const gateway = connectAuthorizeNet(t, fakeGateway, { timeoutMs })
const providers = [stripe, paypal, gateway]

const forward = (ms: number) => {
  harness.forward(ms)
  fakeGateway.advance(ms)
}
const created = (id: string) =>
  waitFor(async () => (await harness.payment(id)).intent_outcome.kind === 'created', {
    what: `the intent of ${id} to be created`,
  })
const succeeded = (id: string) =>
  waitFor(async () => (await harness.payment(id)).status === 'succeeded', { what: `the success of ${id}` })
const offTheList = (id: string) =>
  waitFor(async () => (await harness.entry(paymentStream(id))) === undefined, {
    what: `the end of the follow-up of ${id}`,
  })

type Case = {
  readonly provider: Provider
  readonly faults: FaultPlan
  readonly pay: (id: string) => Promise<unknown>
  /** How many intents the provider created for a payment. */
  readonly intentsOf: (id: string) => number
}

const cases: readonly Case[] = [
  {
    provider: stripe,
    faults: fakeStripe.faults,
    pay: async (id) => fakeStripe.pay(await harness.intentOf(id), 'succeeded'),
    intentsOf: (id) => fakeStripe.intents().filter(({ metadata }) => metadata.payment_id === id).length,
  },
  {
    provider: paypal,
    faults: fakePaypal.faults,
    pay: async (id) => fakePaypal.approve(await harness.intentOf(id)),
    intentsOf: (id) => [...fakePaypal.orders.values()].filter(({ unit }) => unit.custom_id === id).length,
  },
  {
    provider: gateway,
    faults: fakeGateway.faults,
    pay: async (id) => fakeGateway.pay({ token: (await harness.payment(id)).client_secret ?? '' }),
    // A token is not an object, so there cannot be two.
    intentsOf: () => 1,
  },
]

for (const { provider, faults, pay, intentsOf } of cases) {
  t.test(provider.id, async (t) => {
    await harness.startWorker(t, ...providers)

    t.test(`${provider.id}: a create call interrupted by a crash is finished`, async (t) => {
      const id = await harness.initiate(provider)
      forward(31 * second)
      await created(id)
      t.strictSame(await harness.eventsOf(id), ['PaymentInitiated', 'ProviderIntentCreated'])
    })

    t.test(`${provider.id}: a create call without a response leads to one intent`, async (t) => {
      faults.always({ kind: 'drop', commits: true })
      const id = await harness.open(provider)
      t.match(await harness.payment(id), { status: 'pending', intent_outcome: { kind: 'unknown' } })
      faults.always(undefined)
      forward(11 * second)
      await created(id)
      t.equal(intentsOf(id), 1)
    })

    t.test(`${provider.id}: a payment without notifications is updated and charged once`, async (t) => {
      const id = await harness.open(provider)
      await pay(id)
      forward(reconcileAfterMs + second)
      await succeeded(id)
      await offTheList(id)
      t.match((await harness.payment(id)).provider_payment_id, String)
    })
  })
}

t.test('PayPal: an approved order is captured immediately and only once, with two workers', async (t) => {
  await harness.startWorker(t, ...providers)
  await harness.startWorker(t, ...providers)
  const id = await harness.open(paypal)
  const order = await harness.intentOf(id)
  fakePaypal.approve(order)
  await harness.notify(id, { status: 'processing' })
  const before = performance.now()
  await succeeded(id)
  t.comment(`captured after ${Math.round(performance.now() - before)} ms`)
  await offTheList(id)
  t.equal(fakePaypal.callsTo(new RegExp(`/${order}/capture$`)).length, 1)
  t.equal(fakePaypal.charges.filter(({ intent_id }) => intent_id === order).length, 1)
})

t.test('PayPal: a capture without a response charges once', async (t) => {
  await harness.startWorker(t, ...providers)
  const id = await harness.open(paypal)
  const order = await harness.intentOf(id)
  fakePaypal.approve(order)
  fakePaypal.faults.always({ kind: 'drop', commits: true })
  await harness.notify(id, { status: 'processing' })
  await waitFor(() => fakePaypal.charges.some(({ intent_id }) => intent_id === order), { what: 'the capture' })
  await waitFor(async () => (await harness.entry(paymentStream(id)))?.lease === null, {
    what: 'the end of the follow-up',
  })
  t.equal((await harness.payment(id)).status, 'processing')
  fakePaypal.faults.always(undefined)
  forward(31 * second)
  await succeeded(id)
  t.equal(fakePaypal.charges.filter(({ intent_id }) => intent_id === order).length, 1)
})
