// PayPal payments with a saved method, which PayPal pays in the call that creates the order.
import { paymentFold } from '@paylog/domain/payments/fold'
import { receivedOf } from '@paylog/domain/payments/money'
import { existingPayment } from '@paylog/domain/payments/payment'
import { paymentStream } from '@paylog/event-store/streamName'
import type { Fault } from '@paylog/testing/fakeServer'
import { paymentFields } from '@paylog/testing/paymentFields'
import { cancelPayment } from '@paylog/workflows/payments/intentCalls'
import { openPayment } from '@paylog/workflows/payments/openPayment'
import t from 'tap'
import { paypalHarness } from '../testing/receiverHarness.ts'

const { fake, provider, deliver, historyOf, reconcile, workflow, store } = await paypalHarness(t)
const metadata = { correlationId: 'test', causationId: 'test', actor: 'user' }
const wallet = { paypal: { email_address: 'pat@example.com', payer_id: 'QYR5Z8XDVJNXQ', usage_type: 'MERCHANT' } }

t.beforeEach(() => fake.faults.always(undefined))

const stateOf = async (id: string) => existingPayment((await store.load(paymentStream(id), paymentFold)).state)
const eventsOf = (id: string) => fake.events.filter(({ body }) => body.includes(id))

/** Opens a payment of 25.99 with a saved method. @param fault of the call that creates the order */
async function openWithSavedMethod(fault?: Fault) {
  const id = crypto.randomUUID()
  const token = fake.vault.approveSetup(wallet)
  const saved = await provider.methods?.attachMethod({
    idempotency_key: id,
    token,
    user_id: 'user-1',
    provider_customer_id: null,
  })
  if (!saved) throw new Error('PayPal lacks methods')
  const { provider_method_id, provider_customer_id } = saved
  fake.faults.always(fault)
  const { payment, error } = await openPayment(workflow, {
    earlier: null,
    metadata,
    command: async () => ({
      ...paymentFields,
      payment_id: id,
      provider_id: 'paypal',
      provider_method: { provider_method_id, provider_customer_id },
      occurred_at: workflow.now().toISOString(),
      total_cents: 2599,
      currency: 'USD',
      payer: { id: null, type: 'guest', email: null },
    }),
  })
  return { id, payment, error }
}

t.test('a payment with a saved PayPal method is paid once, and needs no approval', async (t) => {
  const { id, error } = await openWithSavedMethod()
  t.equal(error, undefined)
  t.match(await reconcile(id), { finding: 'late', payment: { status: 'succeeded' } })
  await deliver(...eventsOf(id))
  t.same(await historyOf(id), ['PaymentSucceeded'])
  t.equal(receivedOf(await stateOf(id)), 2599)
  t.match(fake.balanceOf(id), { received_cents: 2599 })
  const canceled = cancelPayment(workflow, { payment_id: id, metadata, reason: null })
  await t.rejects(canceled, { code: 'payment_not_cancelable' })
})

t.test('a saved PayPal method whose response is lost is charged once', async (t) => {
  for (const commits of [true, false])
    for (const isNotified of [true, false]) {
      const { id, error } = await openWithSavedMethod({ kind: 'drop', commits })
      t.match(error, { code: 'provider_outcome_unknown' })
      fake.faults.always(undefined)
      if (isNotified) await deliver(...eventsOf(id).filter(({ event_type }) => event_type.startsWith('PAYMENT.')))
      await reconcile(id)
      const payment = await stateOf(id)
      const name = `commits ${commits}, notified ${isNotified}`
      t.match(payment, { status: 'succeeded', provider_intent_id: /./ }, name)
      t.same(payment.attention, [], name)
      t.equal(receivedOf(payment), 2599, name)
      t.match(fake.balanceOf(id), { received_cents: 2599 }, name)
    }
})

t.test('a declined saved PayPal method fails the payment and takes no money', async (t) => {
  fake.nextCaptures({ rejected: 'INSTRUMENT_DECLINED' })
  const { id, payment, error } = await openWithSavedMethod()
  t.match(error, { code: 'payment_declined' })
  t.equal(payment.status, 'failed')
  t.match(fake.balanceOf(id), { received_cents: 0 })
})
