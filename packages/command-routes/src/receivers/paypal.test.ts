// PayPal's notifications as PayPal signs and sends them.

import { matchList } from '@paylog/testing/assertions'
import { event, type PaypalEvent } from '@paylog/testing/paypal/events'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { paypalHarness, reformatted } from '../testing/receiverHarness.ts'

const paypal = await paypalHarness(t)
const { fake, open, send, deliver, notificationOf, captureOf, captureUnrecorded } = paypal
const { historyOf, inboxOf, receivedBy, lastPosition, reconcile } = paypal
const ok = [200, undefined] as const

t.beforeEach(() => fake.verificationFaults.always(undefined))

t.test('a PayPal notification is applied when PayPal verifies it for any of our webhook ids', async (t) => {
  const { id, intent } = await open()
  const approved = fake.approve(intent)
  const signed = fake.signed(approved)
  t.same(await send(signed), ok)
  const [received] = await receivedBy(id, approved.id)
  t.match(received?.data, { body: signed.body, provider_type: 'CHECKOUT.ORDER.APPROVED' })
  t.same(await send(fake.signed(fake.reverseApproval(intent), fake.webhookIds[1])), ok)
  t.same(await historyOf(id), ['PaymentProcessingStarted', 'PaymentCanceled'])
})

t.test('a notification that PayPal does not verify is rejected and not stored [6.1-wallet-checked]', async (t) => {
  const approved = fake.approve((await open()).intent)
  const other = fake.approve((await open()).intent)
  const before = await lastPosition()
  const good = fake.signed(approved)
  const withHeader = (name: string, value: string) => ({ ...good, headers: { ...good.headers, [name]: value } })
  const bad = {
    'for another webhook': fake.signed(approved, 'WH9'),
    'signed for another body': { ...fake.signed(other), body: good.body },
    rewritten: reformatted(good),
    'with another time': withHeader('paypal-transmission-time', '2026-01-01T00:00:00Z'),
    'with another id': withHeader('paypal-transmission-id', 'b2b1c5c0-0000-11f0-8000-000000000000'),
    'with a certificate from another host': withHeader('paypal-cert-url', 'https://paypal.example.com/cert'),
    'with an address instead of a certificate': withHeader('paypal-cert-url', 'https://127.0.0.1/cert'),
    'with another algorithm': withHeader('paypal-auth-algo', 'none'),
    unsigned: { body: good.body, headers: { 'content-type': 'application/json' } },
  }
  for (const [name, notification] of Object.entries(bad))
    t.same(await send(notification), [400, 'invalid_signature'], name)
  t.same(await send({ ...good, body: 'no json' }), [400, 'invalid_request'])
  t.equal(await lastPosition(), before)
  t.same(await send(good), ok)
})

t.test('a notification is 502 while PayPal cannot verify it', async (t) => {
  const signed = fake.signed(fake.approve((await open()).intent))
  const before = await lastPosition()
  for (const fault of [
    { kind: 'status', status: 500, commits: false },
    { kind: 'garbage', commits: false },
    { kind: 'drop', commits: false },
    { kind: 'hang', commits: false },
  ] as const) {
    fake.verificationFaults.always(fault)
    t.same(await send(signed), [502, 'provider_unavailable'], fault.kind)
  }
  t.equal(await lastPosition(), before)
  fake.verificationFaults.always(undefined)
  t.same(await send(signed), ok)
})

t.test('24 concurrent copies of a PayPal notification apply once', async (t) => {
  const { id, intent } = await open()
  const approved = fake.approve(intent)
  const responses = await Promise.all(Array.from({ length: 24 }, () => send(fake.signed(approved))))
  t.same([...new Set(responses.map(String))], [String(ok)])
  t.same(await historyOf(id), ['PaymentProcessingStarted'])
  t.equal((await receivedBy(id, approved.id)).length, 1)
  t.same(await inboxOf(approved.id), [])
})

t.test('a flood of unverified notifications does not block payments', async (t) => {
  const signed = fake.signed(fake.approve((await open()).intent))
  const before = fake.callsTo(/verify-webhook-signature/).length
  const verifications = () => fake.callsTo(/verify-webhook-signature/).length - before
  fake.verificationFaults.always({ kind: 'hang', commits: false })
  const posts = Array.from({ length: 80 }, () => send(signed))
  await waitFor(() => verifications() >= 16, { what: 'the concurrency limit of verifications' })
  t.match(await open(), { intent: /./ })
  t.same([...new Set((await Promise.all(posts)).map(String))], ['502,provider_unavailable'])
})

t.test('a PayPal notification without a payment status is stored and changes nothing', async (t) => {
  const { id, intent } = await open()
  const resource = { id: intent, status: 'CREATED', purchase_units: [{ custom_id: id }] }
  const created = event('CHECKOUT.ORDER.CREATED', { resource_type: 'checkout-order', resource })
  await deliver(created)
  t.equal((await receivedBy(id, created.id)).length, 1)
  t.same(await historyOf(id), [])
})

t.test('a PayPal refund or dispute is recorded even if it does not name the payment', async (t) => {
  const { id, intent } = await open()
  await deliver(fake.approve(intent))
  await reconcile(id)
  const capture = captureOf(intent).id
  const withoutPaymentId = ({ body, ...sent }: PaypalEvent) => ({ ...sent, body: body.replaceAll(id, '') })
  await deliver(
    withoutPaymentId(fake.refund(capture, '1.00')),
    withoutPaymentId(fake.dispute(capture)),
    withoutPaymentId(fake.reverse(capture)),
  )
  t.same((await historyOf(id)).slice(2), ['RefundRecorded', 'PaymentDisputeRecorded', 'RefundRecorded'])
  t.match(await reconcile(id), { finding: 'same', payment: { status: 'succeeded' } })
})

t.test('a PayPal capture with another amount is not a success', async (t) => {
  const payment = await open()
  fake.approve(payment.intent)
  await captureUnrecorded(payment)
  const completed = notificationOf(payment.intent, 'PAYMENT.CAPTURE.COMPLETED')
  const id = `${completed.id}X`
  await deliver({ ...completed, body: completed.body.replaceAll('25.99', '25.98').replace(completed.id, id) })
  t.same(await historyOf(payment.id), ['PaymentAmountMismatch'])
  await deliver(completed)
  t.same(await historyOf(payment.id), ['PaymentAmountMismatch', 'PaymentSucceeded'])
})

t.test('an unmatched PayPal notification is recorded with its fields', async (t) => {
  const subscription = {
    id: 'I-EXAMPLE',
    status: 'SUSPENDED',
    subscriber: { payer_id: 'PAYER1', email_address: 'payer@example.com' },
    billing_info: { next_billing_time: '2027-01-01T00:00:00Z' },
  }
  const sale = {
    id: 'SALE1',
    state: 'completed',
    billing_agreement_id: 'I-EXAMPLE',
    amount: { total: '5.00', currency: 'USD' },
  }
  const capture = {
    id: 'CAPTURE1',
    status: 'COMPLETED',
    amount: { value: '9.00', currency_code: 'USD' },
    custom_id: 'theirs',
  }
  const rows: readonly [PaypalEvent, object][] = [
    [
      event('BILLING.SUBSCRIPTION.SUSPENDED', { resource_type: 'subscription', resource: subscription }),
      {
        generic_type: 'subscription.updated',
        customer_id: 'PAYER1',
        customer_email: 'payer@example.com',
        subscription: {
          subscription_id: 'I-EXAMPLE',
          current_period_end: '2027-01-01T00:00:00.000Z',
          status_changed: true,
        },
      },
    ],
    [
      event('PAYMENT.SALE.COMPLETED', { resource_type: 'sale', resource: sale }),
      { generic_type: 'invoice.payment_succeeded', amount_cents: 500, subscription: { subscription_id: 'I-EXAMPLE' } },
    ],
    [
      event('PAYMENT.CAPTURE.COMPLETED', { resource_type: 'capture', resource: capture }),
      { generic_type: 'payment_intent.succeeded', object_id: 'CAPTURE1', amount_cents: 900, currency: 'USD' },
    ],
    [event('SOMETHING.NEW', { resource: { id: 'X1' } }), { generic_type: null, object_id: 'X1' }],
    [event('SOMETHING.EMPTY', { resource: {} }), { generic_type: null, object_id: null }],
  ]
  for (const [sent, data] of rows) {
    await deliver(sent)
    matchList(t, await inboxOf(sent.id), [{ type: 'ProviderEventReceived' }, { type: 'ProviderEventUnmatched', data }])
  }
})

t.test('a foreign PayPal order that names our payment changes nothing', async (t) => {
  const [ours, other] = [await open(), await open()]
  const approved = fake.approve(other.intent)
  const body = approved.body.replaceAll(other.id, ours.id).replaceAll(other.intent, '7AB12345CD6789012')
  await deliver({ ...approved, body })
  t.same(await historyOf(ours.id), ['ProviderEventIgnored'])
  t.same(await historyOf(other.id), [])
})
