// Stripe's events about subscriptions, invoices, customers and methods, in both API versions of billing.
import { invoiceBody, subscriptionBody } from '@paylog/testing/stripe/billing'
import t from 'tap'
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
