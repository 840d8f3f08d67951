// Stripe's events about subscriptions, invoices, customers and methods, in both API versions of billing.
import { type InvoiceLine, invoiceBody, subscriptionBody } from '@paylog/testing/stripe/billing'
import t from 'tap'
import { sharedFactOf } from '../sharedFact.ts'
import { createdSeconds, occurred_at, readEvent } from './testing/stripeHarness.ts'

t.test('Stripe: subscription events are read in both API versions', async (t) => {
  for (const shape of ['since_2025', 'before_2025'] as const) {
    const body = subscriptionBody({
      id: 'sub_1',
      customer: 'cus_1',
      status: 'past_due',
      current_period_end: createdSeconds,
      shape,
    })
    t.match(
      readEvent('customer.subscription.updated', body),
      {
        object_id: 'sub_1',
        status: 'past_due',
        customer_id: 'cus_1',
        currency: 'USD',
        report: null,
        subscription: {
          subscription_id: 'sub_1',
          current_period_end: occurred_at,
          status_changed: false,
          is_first_invoice: false,
        },
      },
      shape,
    )
  }
})

t.test('Stripe: status_changed follows from the event type or the previous attributes', async (t) => {
  const changed = (type: string, previous?: object) =>
    readEvent(type, subscriptionBody(), previous).subscription?.status_changed
  t.equal(changed('customer.subscription.updated', { status: 'trialing' }), true)
  t.equal(changed('customer.subscription.updated', { cancel_at_period_end: false }), false)
  t.equal(changed('customer.subscription.updated'), false)
  t.equal(changed('customer.subscription.paused'), true)
  t.equal(changed('customer.subscription.resumed'), true)
  t.equal(changed('customer.subscription.created'), false)
})

t.test('Stripe: subscription invoices are read in both API versions', async (t) => {
  for (const shape of ['since_2025', 'before_2025'] as const) {
    const facts = { subscription: 'sub_1', customer: 'cus_1', customer_email: 'user@example.com', shape } as const
    const paid = invoiceBody(facts)
    const expected = {
      object_id: paid.id,
      amount_cents: 2000,
      currency: 'USD',
      customer_id: 'cus_1',
      customer_email: 'user@example.com',
      subscription: {
        subscription_id: 'sub_1',
        current_period_end: null,
        status_changed: false,
        is_first_invoice: false,
      },
    }
    t.match(readEvent('invoice.payment_succeeded', paid), { ...expected, status: 'paid' }, shape)
    const unpaid = invoiceBody({ ...facts, paid: false })
    t.match(readEvent('invoice.payment_failed', unpaid), { ...expected, object_id: unpaid.id, status: 'open' }, shape)
    const first = invoiceBody({ ...facts, billing_reason: 'subscription_create' })
    t.match(readEvent('invoice.payment_succeeded', first), { subscription: { is_first_invoice: true } }, shape)
  }
  const expanded = { ...invoiceBody(), parent: { subscription_details: { subscription: { id: 'sub_2' } } } }
  t.match(readEvent('invoice.payment_succeeded', expanded), { subscription: { subscription_id: 'sub_2' } })
  const single = readEvent('invoice.payment_succeeded', invoiceBody({ subscription: null }))
  t.match(single, { subscription: { subscription_id: null } }, 'without a subscription')
  const generic = { id: 'in_1', amount: 500, currency: 'eur', status: 'paid', customer: 'cus_1' }
  t.match(
    readEvent('invoice.payment_succeeded', generic),
    { amount_cents: 500, subscription: null },
    'in the generic shape',
  )
})

t.test('Stripe: a paid invoice is shared by its two events if it is for a further period', async (t) => {
  const reasons: readonly [string | null, boolean][] = [
    ['subscription_cycle', true],
    ['subscription', true],
    [null, true],
    ['subscription_create', false],
    ['subscription_update', false],
    ['subscription_threshold', false],
    ['manual', false],
    ['quote_accept', false],
  ]
  for (const [billing_reason, isShared] of reasons) {
    const invoice = { ...invoiceBody({ amount: 317 }), billing_reason }
    const shared_fact = isShared ? { kind: 'paid_invoice', id: invoice.id } : null
    for (const type of ['invoice.payment_succeeded', 'invoice.paid'])
      t.strictSame(sharedFactOf(readEvent(type, invoice)), shared_fact, `${type} ${billing_reason}`)
    t.equal(sharedFactOf(readEvent('invoice.payment_failed', invoice)), null)
  }
  t.equal(sharedFactOf(readEvent('invoice.paid', invoiceBody({ subscription: null }))), null, 'no subscription')
  const generic = readEvent('invoice.payment_succeeded', { id: 'in_1', amount: 500, currency: 'eur', status: 'paid' })
  t.strictSame(sharedFactOf(generic), { kind: 'paid_invoice', id: 'in_1' })
})

t.test('Stripe: a renewal ends with the latest period of its invoice that is no proration', async (t) => {
  const [month, later] = [createdSeconds, createdSeconds + 86_400]
  for (const shape of ['since_2025', 'before_2025'] as const) {
    const endOf = (lines: readonly InvoiceLine[], more: object = {}) =>
      readEvent('invoice.paid', { ...invoiceBody({ lines, shape }), ...more }).subscription?.current_period_end
    const prorated = { period_end: later, proration: true }
    t.equal(endOf([{ period_end: month - 5 }, { period_end: month }, prorated]), occurred_at, shape)
    t.equal(endOf([prorated]), null, shape)
    t.equal(endOf([]), null, shape)
    t.equal(endOf([{ period_end: 0 }]), null, shape)
    t.equal(endOf([{ period_end: month }], { billing_reason: 'subscription_update' }), null, shape)
  }
  const item = { parent: { invoice_item_details: { proration: true } }, period: { end: later } }
  const lines = { data: [item, { period: { end: month } }, null, 'x'] }
  t.match(readEvent('invoice.paid', { ...invoiceBody(), lines }), { subscription: { current_period_end: occurred_at } })
  t.match(readEvent('invoice.payment_failed', { ...invoiceBody(), lines }).subscription, { current_period_end: null })
})

t.test('Stripe: the end of a subscription is shared by the events that report it', async (t) => {
  const factOf = (what: string, status: string, previous?: object) =>
    sharedFactOf(readEvent(`customer.subscription.${what}`, subscriptionBody({ id: 'sub_1', status }), previous))
  const end = { kind: 'ended_subscription', id: 'sub_1' } as const
  for (const status of ['incomplete_expired', 'canceled']) {
    t.strictSame(factOf('updated', status, { status: 'incomplete' }), end, status)
    t.strictSame(factOf('updated', status), end, `${status}: a thin event does not show what has changed`)
    t.equal(factOf('updated', status, { metadata: {} }), null, `${status}: a later change of something else`)
    t.strictSame(factOf('deleted', status), end, status)
  }
  for (const status of ['active', 'past_due', 'unpaid', 'paused', 'incomplete'])
    t.equal(factOf('updated', status, { status: 'trialing' }), null, status)
})

t.test('Stripe: customer and method events have customer and e-mail', async (t) => {
  const customer = { id: 'cus_1', object: 'customer', email: 'user@example.com' }
  t.match(readEvent('customer.updated', customer), {
    object_id: 'cus_1',
    customer_id: 'cus_1',
    customer_email: 'user@example.com',
  })
  for (const email of ['kim@bücher.example', 'kim.@example.jp', 'no address'])
    t.equal(readEvent('customer.created', { ...customer, email }).customer_email, email, 'as the provider states it')
  for (const email of [null, ' ', `${'a'.repeat(300)}@example.com`, 'a\u0000@example.com'])
    t.equal(readEvent('customer.updated', { ...customer, email }).customer_email, null)
  const detached = readEvent('payment_method.detached', { id: 'pm_1', customer: null }, { customer: 'cus_1' })
  t.match(detached, { object_id: 'pm_1', customer_id: 'cus_1' })
  for (const name of ['attached', 'updated', 'automatically_updated']) {
    const { object_id, customer_id, report } = readEvent(`payment_method.${name}`, { id: 'pm_1', customer: 'cus_2' })
    t.same([object_id, customer_id, report], ['pm_1', 'cus_2', null], name)
  }
})
