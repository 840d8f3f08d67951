// From a provider's signed notification to the webhooks of endpoints of every mode, through the real parts. How each type of
// notification is read, and which messages follow, is tested in the packages `providers` and `webhooks`.
import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import type { Payment } from '@paylog/domain/payments/payment'
import { signSandboxEvent } from '@paylog/providers/sandbox/notifications'
import { createSandbox } from '@paylog/providers/sandbox/sandbox'
import { connect } from '@paylog/providers/testing/providerHarness'
import { startFakeAuthorizeNet } from '@paylog/testing/authorize-net/fakeAuthorizeNet'
import { event as paypalEvent } from '@paylog/testing/paypal/events'
import { startFakePaypal } from '@paylog/testing/paypal/fakePaypal'
import { invoiceBody, subscriptionBody } from '@paylog/testing/stripe/billing'
import { startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import t from 'tap'
import {
  type Expected,
  type Notified,
  now,
  ourData,
  ourLegacyData,
  project,
  providerNotificationHarness,
} from '../../testing/providerNotificationHarness.ts'

const { open, check, checkFact, canonicalOf, messagesDuring } = await providerNotificationHarness(t)

const timeoutMs = 15_000
const fakeStripe = await startFakeStripe(t, { now: () => now })
const fakePaypal = await startFakePaypal(t)
const fakeGateway = await startFakeAuthorizeNet(t)
const stripe = await connect(t, fakeStripe.env, { timeoutMs })
const paypal = await connect(t, fakePaypal.env, { timeoutMs })
const gateway = await connect(t, fakeGateway.env, { timeoutMs })
const sandboxSecret = 'sandbox-secret'
const sandbox = createSandbox({ webhookSecrets: [sandboxSecret] })

/** The time of Stripe's and the sandbox's notifications. */
const second = '2026-01-02T03:04:05.000Z'
const seconds = Date.parse(second) / 1_000

/** The messages about the success of a Paylog payment. */
const success = (payment: Payment): Expected => ({
  canonical: [['payment.succeeded', ourData(payment, 'succeeded')]],
  canonicalTime: now.toISOString(),
  legacy: [['payment_intent.succeeded', ourLegacyData(payment, 'succeeded')]],
})
const refund = { refund: { amount: 700, status: 'succeeded' } }
const dispute = { dispute: { amount: 2200, status: 'open' } }

const fromStripe = (events: readonly { readonly type: string }[], type: string): Notified => {
  const event = events.findLast((each) => each.type === type)
  assert(event, type)
  return { provider_type: type, occurred_at: second, signed: fakeStripe.signed(event) }
}
const fromPaypal = (type: string): Notified => {
  const event = fakePaypal.events.findLast(({ event_type }) => event_type === type)
  assert(event, type)
  return { provider_type: type, occurred_at: JSON.parse(event.body).create_time, signed: fakePaypal.signed(event) }
}
/** The fake's latest; its times have seven decimals. */
const fromGateway = (): Notified => {
  const event = fakeGateway.events.at(-1)
  assert(event)
  const occurred_at = new Date(JSON.parse(event.body).eventDate).toISOString()
  return { provider_type: event.eventType, occurred_at, signed: fakeGateway.signed(event) }
}
/** Indented, so that a test notices when the body is parsed and printed again. */
const fromSandbox = (type: string, object: object): Notified => {
  const event = { id: `evt_${randomUUIDv7()}`, type, provider: 'sandbox', data: { object }, created: seconds }
  const body = JSON.stringify(event, null, 1)
  const headers = { 'sandbox-signature': signSandboxEvent(sandboxSecret, body, seconds) }
  return { provider_type: type, occurred_at: second, signed: { body, headers } }
}

for (const provider of [stripe, paypal, gateway, sandbox])
  t.test(`${provider.id}: opening a payment sends payment.created exactly once [6.2-created-once]`, async (t) => {
    const opened: Payment[] = []
    const messages = await messagesDuring(async () => opened.push(await open(provider)))
    const [payment] = opened
    assert(payment)
    const head = { event: 'payment.created', provider: provider.id, timestamp: now.toISOString() }
    const body = JSON.stringify({ ...head, data: ourData(payment, 'pending') })
    t.strictSame(
      messages.map((message) => [message.endpoint, message.user_id, message.payment_id, message.body]),
      ['1', '3'].map((endpoint) => [endpoint, 'u1', payment.payment_id, body]),
    )
  })

t.test('Stripe: webhooks of a Paylog payment that succeeds, is refunded and disputed', async (t) => {
  const payment = await open(stripe)
  const intent = payment.provider_intent_id ?? ''
  const created: Expected = { legacy: [['payment_intent.created', ourLegacyData(payment, 'pending')]] }
  await check(t, stripe, fromStripe(fakeStripe.events, 'payment_intent.created'), created)
  const paid = fakeStripe.pay(intent, 'succeeded')
  await check(t, stripe, fromStripe(paid, 'charge.succeeded'), {})
  await check(t, stripe, fromStripe(paid, 'payment_intent.succeeded'), success(payment))
  const refunded = fakeStripe.refund(intent, 700)
  await checkFact(t, stripe, payment, fromStripe(refunded, 'refund.created'), refund)
  await check(t, stripe, fromStripe(refunded, 'charge.refunded'), {})
  await checkFact(t, stripe, payment, fromStripe(fakeStripe.dispute(intent), 'charge.dispute.created'), dispute)
})

t.test('PayPal: webhooks of a Paylog payment that succeeds, is refunded and disputed', async (t) => {
  const payment = await open(paypal)
  const { payment_id, provider_intent_id } = payment
  fakePaypal.approve(provider_intent_id ?? '')
  const approved: Expected = { legacy: [['payment_intent.processing', ourLegacyData(payment, 'processing')]] }
  await check(t, paypal, fromPaypal('CHECKOUT.ORDER.APPROVED'), approved)
  const snapshot = await paypal.captureIntent?.({
    payment_id,
    provider_intent_id: provider_intent_id ?? '',
    provider_payment_id: null,
    currency: 'USD',
    capture_method: 'automatic',
    created_at: now.toISOString(),
    idempotency_key: payment_id,
  })
  const capture = snapshot?.report.provider_payment_id ?? ''
  await check(t, paypal, fromPaypal('CHECKOUT.ORDER.COMPLETED'), {})
  await check(t, paypal, fromPaypal('PAYMENT.CAPTURE.COMPLETED'), success(payment))
  fakePaypal.refund(capture, '7.00')
  await checkFact(t, paypal, payment, fromPaypal('PAYMENT.CAPTURE.REFUNDED'), refund)
  fakePaypal.dispute(capture)
  await checkFact(t, paypal, payment, fromPaypal('CUSTOMER.DISPUTE.CREATED'), dispute)
})

t.test('Authorize.Net: webhooks of a Paylog payment that succeeds and is refunded', async (t) => {
  const payment = await open(gateway)
  const { transId } = fakeGateway.pay({ token: payment.client_secret ?? '' })
  await check(t, gateway, fromGateway(), success(payment))
  fakeGateway.refund(transId, 700)
  await checkFact(t, gateway, payment, fromGateway(), refund)
})

t.test('sandbox: webhooks of a Paylog payment that succeeds', async (t) => {
  const payment = await open(sandbox)
  const object = { id: payment.provider_intent_id, amount: 2200, currency: 'usd', status: 'succeeded' }
  await check(t, sandbox, fromSandbox('payment_intent.succeeded', object), success(payment))
})

t.test('Stripe: an intent of another system that names a Paylog payment is foreign, and needs attention', async (t) => {
  const payment = await open(stripe)
  const { payment_id } = payment
  const other = fakeStripe.openIntent({ amount: 100, currency: 'usd', metadata: { payment_id } })
  const message = 'An intent at the provider names this payment, but belongs to another system'
  const attention = { code: 'foreign_intent', message }
  const foreign = { payment_id: other.id, amount: 100, currency: 'USD', customer_email: null, status: 'succeeded' }
  await check(t, stripe, fromStripe(fakeStripe.pay(other.id, 'succeeded'), 'payment_intent.succeeded'), {
    canonical: [['payment.attention', { ...ourData(payment, null), attention }]],
    canonicalTime: now.toISOString(),
    legacy: [['payment_intent.succeeded', foreign]],
  })
})

/** The messages about an ended subscription of another system. */
const ended = (
  user: { readonly id: string; readonly email: string | null },
  {
    amount,
    currency,
    status,
  }: { readonly amount: number | null; readonly currency: string | null; readonly status: string },
  extra: object,
): Expected => {
  const data = {
    payment_id: null,
    amount,
    currency,
    status,
    user: { id: user.id, type: 'customer', email: user.email },
  }
  return {
    canonical: ['subscription.cancelled', 'membership.cancelled'].map((name) => [name, { ...data, project, ...extra }]),
    legacy: [['subscription.deleted', { payment_id: null, amount, currency, customer_email: user.email, status }]],
  }
}

t.test('Stripe: webhooks of the end of a subscription of another system', async (t) => {
  const current_period_end = '2026-02-01T12:00:00.000Z'
  const end = { status: 'canceled', current_period_end: Date.parse(current_period_end) / 1_000 }
  const subscription = subscriptionBody({ id: 'sub_F1', customer: 'cus_F1', created: seconds, ...end })
  const notified = fromStripe(
    [fakeStripe.event('customer.subscription.deleted', subscription)],
    'customer.subscription.deleted',
  )
  const facts = { amount: null, currency: 'USD', status: 'canceled' }
  const ids = { subscription_id: 'sub_F1', customer_id: 'cus_F1', current_period_end }
  await check(t, stripe, notified, ended({ id: 'cus_F1', email: null }, facts, ids))
})

const end = ['subscription.cancelled', 'membership.cancelled']

t.test('Stripe: the end of a subscription is sent once, in any order of its events', async (t) => {
  const eventOf = (what: string, id: string, status: string, previous: object = {}) =>
    fakeStripe.signed(fakeStripe.event(`customer.subscription.${what}`, subscriptionBody({ id, status }), { previous }))
  const expired = eventOf('updated', 'sub_E1', 'incomplete_expired', { status: 'incomplete' })
  t.same(await canonicalOf(stripe, [expired]), end)
  const events = (id: string) => [
    eventOf('updated', id, 'canceled', { status: 'active' }),
    eventOf('deleted', id, 'canceled'),
  ]
  t.same(await canonicalOf(stripe, events('sub_E2')), end)
  t.same(await canonicalOf(stripe, events('sub_E3').toReversed()), [...end, 'subscription.updated'])
  for (const status of ['unpaid', 'paused'])
    t.same(await canonicalOf(stripe, [eventOf('updated', `sub_${status}`, status, { status: 'active' })]), [
      'subscription.updated',
      'membership.pending',
    ])
})

t.test('Stripe: a paid invoice extends a membership once, in whichever order its events come', async (t) => {
  const types = ['invoice.paid', 'invoice.payment_succeeded']
  const eventsOf = (names: readonly string[], fields: Parameters<typeof invoiceBody>[0] = {}) => {
    const invoice = invoiceBody(fields)
    return names.map((type) => fakeStripe.signed(fakeStripe.event(type, invoice)))
  }
  for (const names of [...types.map((type) => [type]), types, types.toReversed()])
    t.same(await canonicalOf(stripe, eventsOf(names)), ['membership.extended'], names.join())
  for (const billing_reason of ['subscription_update', 'subscription_create', 'manual'])
    t.same(await canonicalOf(stripe, eventsOf(types, { amount: 317, billing_reason })), [], billing_reason)
})

t.test('Stripe: a deleted customer has no canonical webhook', async (t) => {
  const deleted = fakeStripe.event('customer.deleted', { id: 'cus_F2', object: 'customer', deleted: true })
  await check(t, stripe, fromStripe([deleted], 'customer.deleted'), {
    legacy: [
      ['customer.deleted', { payment_id: null, amount: null, currency: null, customer_email: null, status: null }],
    ],
  })
})

t.test('PayPal: webhooks of the end of a subscription of another system', async (t) => {
  const subscriber = { email_address: 'bo@example.com', payer_id: 'QYR5Z8XDVJNXQ' }
  const resource = { id: 'I-F1EXAMPLE0001', status: 'CANCELLED', subscriber, billing_info: {} }
  const type = 'BILLING.SUBSCRIPTION.CANCELLED'
  const event = paypalEvent(type, { resource_type: 'subscription', resource_version: '2.0', resource }, second)
  const notified = { provider_type: type, occurred_at: second, signed: fakePaypal.signed(event) }
  const facts = { amount: null, currency: null, status: 'cancelled' }
  const ids = { subscription_id: resource.id, customer_id: subscriber.payer_id }
  await check(t, paypal, notified, ended({ id: subscriber.payer_id, email: 'bo@example.com' }, facts, ids))
})

t.test('Authorize.Net: webhooks of the end of a subscription of another system', async (t) => {
  const profile = { customerProfileId: 394, customerPaymentProfileId: 694 }
  const payload = {
    name: 'Membership',
    amount: 11.55,
    status: 'canceled',
    profile,
    entityName: 'subscription',
    id: '17',
  }
  fakeGateway.notify('customer.subscription.cancelled', payload)
  const facts = { amount: 1155, currency: null, status: 'canceled' }
  const ids = { subscription_id: '17', customer_id: '394' }
  await check(t, gateway, fromGateway(), ended({ id: '394', email: null }, facts, ids))
})

t.test('Authorize.Net: a payment of another system has the amount and customer that the gateway reports', async (t) => {
  const { transId: payment_id } = fakeGateway.pay(
    { invoiceNumber: 'order-1', amount_cents: 550 },
    { email: 'bo@example.com' },
  )
  const facts = { payment_id, amount: 550, currency: 'USD' }
  const user = { id: null, type: 'customer', email: 'bo@example.com' }
  await check(t, gateway, fromGateway(), {
    canonical: [['payment.succeeded', { ...facts, status: 'succeeded', user, project }]],
    legacy: [['payment_intent.succeeded', { ...facts, customer_email: 'bo@example.com', status: 'succeeded' }]],
  })
})
