import { connectPaypal } from '@paylog/providers/testing/providerHarness'
import { event } from '@paylog/testing/paypal/events'
import { startFakePaypal } from '@paylog/testing/paypal/fakePaypal'
import t from 'tap'
import {
  createCanonicalTableHarness,
  foreignLegacyMessage,
  foreignMessage,
  type Message,
  noMoney,
} from './canonicalTableHarness.ts'
import * as bodies from './paypalFixtures.ts'
import { create_time, current_period_end } from './paypalFixtures.ts'

const harness = await createCanonicalTableHarness(t)
const fake = await startFakePaypal(t)
const paypal = connectPaypal(t, fake, { timeoutMs: 15_000 })

type Row = {
  readonly type: string
  readonly resource: Parameters<typeof event>[1]
  readonly canonical: readonly Message[]
  readonly legacy: readonly Message[]
}

const five = { amount: 500, currency: 'EUR' }
const unknownCustomer = { id: null, email: null }
const bo = { id: 'QYR5Z8XDVJNXQ', email: 'bo@example.com' }

/** A capture or authorization does not contain the payer. */
const paid = (
  type: string,
  [generic, status, payment_id]: readonly [string, string, string],
  resource: Row['resource'],
  canonical: string | null = null,
): Row => ({
  type,
  resource,
  canonical: canonical === null ? [] : [foreignMessage(canonical, unknownCustomer, { payment_id, ...five, status })],
  legacy: [foreignLegacyMessage(`payment_intent.${generic}`, unknownCustomer, { payment_id, ...five, status })],
})

const [order, capture, authorization] = ['5O190127TN364715T', '3C679366HH908993F', '6AB80463RL4417803'] as const
const payments: readonly Row[] = [
  {
    type: 'CHECKOUT.ORDER.CREATED',
    resource: bodies.order('CREATED'),
    canonical: [
      foreignMessage('payment.created', bo, { payment_id: order, ...five, status: 'pending', customer_id: bo.id }),
    ],
    legacy: [foreignLegacyMessage('payment_intent.created', bo, { payment_id: order, ...five, status: 'pending' })],
  },
  {
    type: 'CHECKOUT.ORDER.APPROVED',
    resource: bodies.order('APPROVED'),
    canonical: [],
    legacy: [
      foreignLegacyMessage('payment_intent.processing', bo, { payment_id: order, ...five, status: 'processing' }),
    ],
  },
  { type: 'CHECKOUT.ORDER.COMPLETED', resource: bodies.order('COMPLETED'), canonical: [], legacy: [] },
  paid(
    'PAYMENT.CAPTURE.COMPLETED',
    ['succeeded', 'succeeded', capture],
    bodies.capture('COMPLETED'),
    'payment.succeeded',
  ),
  paid('PAYMENT.CAPTURE.DENIED', ['failed', 'failed', capture], bodies.capture('DECLINED'), 'payment.failed'),
  paid('PAYMENT.CAPTURE.DECLINED', ['failed', 'failed', capture], bodies.capture('DECLINED'), 'payment.failed'),
  paid(
    'PAYMENT.CAPTURE.PENDING',
    ['processing', 'processing', capture],
    bodies.capture('PENDING', { status_details: { reason: 'PENDING_REVIEW' } }),
  ),
  paid('PAYMENT.AUTHORIZATION.CREATED', ['processing', 'processing', authorization], bodies.authorization('CREATED')),
  paid(
    'PAYMENT.AUTHORIZATION.VOIDED',
    ['canceled', 'canceled', authorization],
    bodies.authorization('VOIDED'),
    'payment.failed',
  ),
  {
    // Without an amount there is no canonical message.
    type: 'CHECKOUT.PAYMENT-APPROVAL.REVERSED',
    resource: bodies.reversedApproval(),
    canonical: [],
    legacy: [
      foreignLegacyMessage('payment_intent.canceled', unknownCustomer, {
        payment_id: order,
        ...noMoney,
        status: 'canceled',
      }),
    ],
  },
]

const extra = { ...noMoney, subscription_id: 'I-F1EXAMPLE0001', customer_id: bo.id, current_period_end }
const subscribed = (
  kind: string,
  [generic, status]: readonly [string, string],
  names: string,
  state: 'active' | 'ended' = 'active',
): Row => {
  const { current_period_end: until, ...ended } = extra
  const fields = { ...(state === 'active' ? { ...ended, current_period_end: until } : ended), status }
  return {
    type: `BILLING.SUBSCRIPTION.${kind}`,
    resource:
      state === 'active' ? bodies.subscription(status.toUpperCase()) : bodies.subscription(status.toUpperCase(), {}),
    canonical: names.split(' ').map((name) => foreignMessage(name, bo, fields)),
    legacy: [foreignLegacyMessage(`subscription.${generic}`, bo, { ...noMoney, status })],
  }
}

const unapproved = { ...noMoney, subscription_id: 'I-F1EXAMPLE0001', status: 'approval_pending' }
const subscriptions: readonly Row[] = [
  {
    type: 'BILLING.SUBSCRIPTION.CREATED',
    resource: bodies.unapprovedSubscription(),
    canonical: ['subscription.created', 'membership.pending'].map((name) =>
      foreignMessage(name, unknownCustomer, unapproved),
    ),
    legacy: [foreignLegacyMessage('subscription.created', unknownCustomer, { ...noMoney, status: 'approval_pending' })],
  },
  subscribed('CREATED', ['created', 'active'], 'subscription.created membership.activated'),
  subscribed('ACTIVATED', ['updated', 'active'], 'subscription.updated membership.activated'),
  subscribed('RE-ACTIVATED', ['updated', 'active'], 'subscription.updated membership.activated'),
  subscribed('UPDATED', ['updated', 'active'], 'subscription.updated'),
  subscribed('UPDATED', ['updated', 'suspended'], 'subscription.updated'),
  subscribed('SUSPENDED', ['updated', 'suspended'], 'subscription.updated membership.pending', 'ended'),
  subscribed('CANCELLED', ['deleted', 'cancelled'], 'subscription.cancelled membership.cancelled', 'ended'),
  subscribed('EXPIRED', ['deleted', 'expired'], 'subscription.cancelled membership.cancelled', 'ended'),
]

const ten = { amount: 1000, currency: 'EUR' }
const sale = { payment_id: '80021663DE681814L', ...ten, status: 'completed' }
const renewals: readonly Row[] = [
  {
    type: 'PAYMENT.SALE.COMPLETED',
    resource: bodies.sale(),
    canonical: [
      foreignMessage('membership.extended', unknownCustomer, { ...sale, subscription_id: 'I-F1EXAMPLE0001' }),
    ],
    legacy: [foreignLegacyMessage('invoice.payment_succeeded', unknownCustomer, sale)],
  },
  { type: 'PAYMENT.SALE.COMPLETED', resource: bodies.sale({}), canonical: [], legacy: [] },
  {
    type: 'BILLING.SUBSCRIPTION.PAYMENT.FAILED',
    resource: bodies.failedRenewal(),
    canonical: [foreignMessage('membership.pending', bo, { ...extra, ...ten, status: 'active' })],
    legacy: [foreignLegacyMessage('invoice.payment_failed', bo, { ...ten, status: 'active' })],
  },
]

const rawOnly = (type: string, resource: Row['resource']): Row => ({ type, resource, canonical: [], legacy: [] })
const legacyMethod = (kind: string) => [
  foreignLegacyMessage(`payment_method.${kind}`, unknownCustomer, { ...noMoney, status: null }),
]
const others: readonly Row[] = [
  { ...rawOnly('VAULT.PAYMENT-TOKEN.CREATED', bodies.vaultToken('CREATED')), legacy: legacyMethod('attached') },
  { ...rawOnly('VAULT.PAYMENT-TOKEN.DELETED', bodies.vaultToken('DELETED')), legacy: legacyMethod('detached') },
  rawOnly('PAYMENT.CAPTURE.REFUNDED', bodies.refund()),
  rawOnly('PAYMENT.CAPTURE.REVERSED', bodies.refund()),
  rawOnly('CUSTOMER.DISPUTE.CREATED', bodies.dispute('OPEN')),
  rawOnly('CUSTOMER.DISPUTE.RESOLVED', bodies.dispute('RESOLVED')),
  rawOnly('CATALOG.PRODUCT.CREATED', { resource_type: 'product', resource: { id: 'PROD-F1', name: 'A product' } }),
]

for (const { type, resource, canonical, legacy } of [...payments, ...subscriptions, ...renewals, ...others])
  t.test(`PayPal: ${type} sends ${canonical.map(([name]) => name).join(', ') || 'no canonical event'}`, async (t) => {
    const signed = fake.signed(event(type, resource, create_time))
    await harness.check(t, paypal, signed, { provider_type: type, occurred_at: create_time, canonical, legacy })
  })

t.test('PayPal: a notification received three times, with new signatures, is delivered once', async (t) => {
  const cancelled = event('BILLING.SUBSCRIPTION.CANCELLED', bodies.subscription('CANCELLED', {}), create_time)
  const { provider_type, ...row } = {
    ...subscribed('CANCELLED', ['deleted', 'cancelled'], 'subscription.cancelled membership.cancelled', 'ended'),
    provider_type: 'BILLING.SUBSCRIPTION.CANCELLED',
  }
  const expected = { provider_type, occurred_at: create_time, canonical: row.canonical, legacy: row.legacy }
  await harness.check(t, paypal, fake.signed(cancelled), expected, 2)
  const again = await harness.messagesDuring(() => harness.receive(paypal, fake.signed(cancelled)))
  t.strictSame(again, [])
})
