import { connectStripe } from '@paylog/providers/testing/providerHarness'
import { startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import t from 'tap'
import {
  createCanonicalTableHarness,
  foreignLegacyMessage,
  foreignMessage,
  type Message,
  noMoney,
  now,
} from './canonicalTableHarness.ts'
import * as bodies from './stripeFixtures.ts'
import { created, current_period_end, occurred_at } from './stripeFixtures.ts'

const harness = await createCanonicalTableHarness(t)
const fake = await startFakeStripe(t, { now: () => now })
const stripe = connectStripe(t, fake, { timeoutMs: 15_000 })

type Row = {
  readonly type: string
  readonly story?: string
  readonly object: object
  readonly previous?: object
  readonly canonical: readonly Message[]
  readonly legacy: readonly Message[]
}

const bo = { id: 'cus_F1', email: 'bo@example.com' }
const customer = { id: 'cus_F1', email: null }
const paid = { payment_id: 'pi_F1', amount: 500, currency: 'EUR' }
const legacyOf = (event: string, status: string) => [foreignLegacyMessage(event, bo, { ...paid, status })]

/** An intent of another system. */
const intent = (
  type: string,
  [generic, status]: readonly [string, string],
  object: object,
  canonical: string | null = null,
): Row => ({
  type,
  object,
  canonical: canonical === null ? [] : [foreignMessage(canonical, bo, { ...paid, status, customer_id: 'cus_F1' })],
  legacy: legacyOf(`payment_intent.${generic}`, status),
})

const failed = { type: 'card_error', code: 'card_declined', decline_code: 'insufficient_funds', message: 'No money.' }
const payments: readonly Row[] = [
  intent(
    'payment_intent.created',
    ['created', 'pending'],
    bodies.foreignIntent('requires_payment_method'),
    'payment.created',
  ),
  intent(
    'payment_intent.succeeded',
    ['succeeded', 'succeeded'],
    bodies.foreignIntent('succeeded'),
    'payment.succeeded',
  ),
  intent(
    'payment_intent.payment_failed',
    ['failed', 'failed'],
    bodies.foreignIntent('requires_payment_method', { last_payment_error: failed }),
    'payment.failed',
  ),
  intent('payment_intent.canceled', ['canceled', 'canceled'], bodies.foreignIntent('canceled'), 'payment.failed'),
  intent('payment_intent.processing', ['processing', 'processing'], bodies.foreignIntent('processing')),
  intent(
    'payment_intent.amount_capturable_updated',
    ['processing', 'processing'],
    bodies.foreignIntent('requires_capture'),
  ),
  intent('payment_intent.requires_action', ['requires_action', 'pending'], bodies.foreignIntent('requires_action')),
]

const legacyMethod = (event: string) => [foreignLegacyMessage(event, { email: null }, { ...noMoney, status: null })]
const methods: readonly Row[] = [
  {
    type: 'payment_method.attached',
    object: bodies.method('cus_F1'),
    canonical: [],
    legacy: legacyMethod('payment_method.attached'),
  },
  {
    type: 'payment_method.detached',
    object: bodies.method(null),
    previous: { customer: 'cus_F1' },
    canonical: [],
    legacy: legacyMethod('payment_method.detached'),
  },
  {
    type: 'payment_method.updated',
    object: bodies.method('cus_F1'),
    canonical: [],
    legacy: legacyMethod('payment_method.updated'),
  },
  {
    type: 'payment_method.automatically_updated',
    object: bodies.method('cus_F1'),
    canonical: [],
    legacy: legacyMethod('payment_method.updated'),
  },
]

const extra = { amount: null, currency: 'USD', subscription_id: 'sub_F1', customer_id: 'cus_F1', current_period_end }
/** Subscription events contain neither e-mail nor amount. */
const subscribed = (
  kind: string,
  status: string,
  names: string,
  more: { readonly previous?: object; readonly generic?: string } = {},
): readonly Row[] =>
  (['since_2025', 'before_2025'] as const).map((shape) => ({
    type: `customer.subscription.${kind}`,
    story: ` (${status}, previously ${JSON.stringify(more.previous ?? {})}, API ${shape})`,
    object: bodies.subscription(status, shape),
    ...(more.previous === undefined ? {} : { previous: more.previous }),
    canonical: names.split(' ').map((name) => foreignMessage(name, customer, { ...extra, status })),
    legacy: [
      foreignLegacyMessage(`subscription.${more.generic ?? kind}`, customer, { amount: null, currency: 'USD', status }),
    ],
  }))

const changed = (status: string) => ({ previous: { status } })
const subscriptions: readonly Row[] = [
  subscribed('created', 'active', 'subscription.created membership.activated'),
  subscribed('created', 'trialing', 'subscription.created membership.activated'),
  subscribed('created', 'incomplete', 'subscription.created membership.pending'),
  subscribed('updated', 'active', 'subscription.updated membership.activated', changed('incomplete')),
  subscribed('updated', 'active', 'subscription.updated membership.activated', changed('past_due')),
  subscribed('updated', 'trialing', 'subscription.updated membership.activated', changed('incomplete')),
  subscribed('updated', 'unpaid', 'subscription.updated membership.pending', changed('past_due')),
  subscribed('updated', 'paused', 'subscription.updated membership.pending', changed('trialing')),
  subscribed('updated', 'incomplete', 'subscription.updated membership.pending', changed('active')),
  subscribed('updated', 'past_due', 'subscription.updated', changed('active')),
  subscribed('updated', 'incomplete_expired', 'subscription.updated', changed('incomplete')),
  subscribed('updated', 'active', 'subscription.updated'),
  subscribed('updated', 'active', 'subscription.updated', { previous: { cancel_at_period_end: false } }),
  subscribed('updated', 'paused', 'subscription.updated', { previous: { metadata: {} } }),
  subscribed('paused', 'paused', 'subscription.updated membership.pending', { generic: 'updated' }),
  subscribed('resumed', 'active', 'subscription.updated membership.activated', { generic: 'updated' }),
  subscribed('deleted', 'canceled', 'subscription.cancelled membership.cancelled'),
  subscribed('trial_will_end', 'trialing', 'subscription.updated'),
].flat()

const ofInvoice = { payment_id: 'in_F1', amount: 2000, currency: 'USD' }
const ofSubscription = { subscription_id: 'sub_F1', customer_id: 'cus_F1' }
const invoices: readonly Row[] = (['since_2025', 'before_2025'] as const).flatMap((shape): readonly Row[] => {
  const invoiced = (type: string, [status, canonical]: readonly [string, string | null], object: object): Row => ({
    type: `invoice.${type}`,
    story: ` (API ${shape})`,
    object,
    canonical: canonical === null ? [] : [foreignMessage(canonical, bo, { ...ofInvoice, status, ...ofSubscription })],
    legacy: [foreignLegacyMessage(`invoice.${type}`, bo, { ...ofInvoice, status })],
  })
  const first = { billing_reason: 'subscription_create' }
  return [
    invoiced('payment_succeeded', ['paid', 'membership.extended'], bodies.invoice(shape)),
    invoiced('payment_succeeded', ['paid', null], bodies.invoice(shape, first)),
    invoiced('payment_succeeded', ['paid', null], bodies.invoice(shape, { subscription: null })),
    invoiced('payment_failed', ['open', 'membership.pending'], bodies.invoice(shape, { paid: false })),
    invoiced('payment_failed', ['open', 'membership.pending'], bodies.invoice(shape, { ...first, paid: false })),
    invoiced('payment_failed', ['open', null], bodies.invoice(shape, { subscription: null, paid: false })),
    {
      type: 'invoice.paid',
      story: ` (API ${shape})`,
      object: bodies.invoice(shape),
      canonical: [],
      legacy: [],
    },
  ]
})

const customers: readonly Row[] = (['created', 'updated', 'deleted'] as const).map((kind) => {
  const status = kind === 'deleted' ? 'deleted' : null
  return {
    type: `customer.${kind}`,
    object: bodies.customer(),
    ...(kind === 'updated' ? { previous: { name: null } } : {}),
    canonical: [
      foreignMessage(`customer.${kind === 'created' ? 'created' : 'updated'}`, bo, {
        ...noMoney,
        status,
        customer_id: 'cus_F1',
      }),
    ],
    legacy: [foreignLegacyMessage(`customer.${kind}`, bo, { ...noMoney, status: null })],
  }
})

const rawOnly = (type: string, object: object, previous?: object): Row => ({
  type,
  object,
  ...(previous === undefined ? {} : { previous }),
  canonical: [],
  legacy: [],
})
const others: readonly Row[] = [
  rawOnly('charge.succeeded', bodies.paidCharge()),
  rawOnly('charge.refunded', bodies.refundedCharge(), { amount_refunded: 0, refunded: false }),
  rawOnly('refund.created', bodies.refund()),
  rawOnly('charge.dispute.created', bodies.dispute()),
  rawOnly('charge.dispute.closed', { ...bodies.dispute(), status: 'won' }, { status: 'needs_response' }),
  rawOnly('something.that.stripe.adds', { id: 'new_F1', object: 'new' }),
]

for (const row of [...payments, ...methods, ...subscriptions, ...invoices, ...customers, ...others])
  t.test(`Stripe: ${row.type}${row.story ?? ''} sends the webhooks of the canonical table`, async (t) => {
    const options = { created, ...(row.previous === undefined ? {} : { previous: row.previous }) }
    const event = fake.event(row.type, row.object, options)
    const { canonical, legacy } = row
    await harness.check(t, stripe, fake.signed(event), { provider_type: row.type, occurred_at, canonical, legacy })
  })

t.test('Stripe: a notification received three times is delivered once', async (t) => {
  const event = fake.event('customer.subscription.deleted', bodies.subscription('canceled', 'since_2025'), { created })
  const gone = { ...extra, status: 'canceled' }
  const expected = {
    provider_type: 'customer.subscription.deleted',
    occurred_at,
    canonical: [
      foreignMessage('subscription.cancelled', customer, gone),
      foreignMessage('membership.cancelled', customer, gone),
    ],
    legacy: [
      foreignLegacyMessage('subscription.deleted', customer, { amount: null, currency: 'USD', status: 'canceled' }),
    ],
  }
  await harness.check(t, stripe, fake.signed(event), expected, 3)
})
