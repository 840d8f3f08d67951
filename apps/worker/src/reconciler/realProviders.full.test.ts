// The reconciler with the real provider adapters against fake servers, which fail the test when they charge a payment twice.
import { paymentStream } from '@paylog/event-store/streamName'
import type { Provider } from '@paylog/providers/provider'
import { connect } from '@paylog/providers/testing/providerHarness'
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
const stripe = await connect(t, fakeStripe.env, { timeoutMs })
const paypal = await connect(t, fakePaypal.env, { timeoutMs })
const gateway = await connect(t, fakeGateway.env, { timeoutMs })
const providers = [stripe, paypal, gateway]

const forward = (ms: number) => {
  harness.forward(ms)
  fakeGateway.advance(ms)
}
const created = (id: string) =>
  waitFor(async () => (await harness.payment(id)).create.outcome === 'done', {
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

for (const { provider, faults, pay, intentsOf } of cases)
  t.test(`${provider.id}: a payment whose calls and notifications are lost is created and charged once`, async (t) => {
    await harness.startWorker(t, ...providers)
    await harness.startWorker(t, ...providers)
    faults.always({ kind: 'drop', commits: true })
    const id = await harness.open(provider)
    t.match(await harness.payment(id), { status: 'pending', create: { outcome: 'unknown' } })
    faults.always(undefined)
    forward(11 * second)
    await created(id)
    t.equal(intentsOf(id), 1)
    await pay(id)
    forward(reconcileAfterMs + second)
    await succeeded(id)
    await offTheList(id)
    t.match((await harness.payment(id)).provider_payment_id, String)
  })
