// Reading Stripe's notifications: types, odd fields, and invalid bodies.
import t from 'tap'
import { readNotification } from './notifications.ts'
import { eventFixture, intentFixture, occurred_at, readBody, readEvent } from './testing/stripeHarness.ts'

t.test('Stripe: each event type has its generic type or none [6.1-card-names]', async (t) => {
  const names: readonly [string, string | null][] = [
    ['payment_intent.created', 'payment_intent.created'],
    ['payment_intent.succeeded', 'payment_intent.succeeded'],
    ['payment_intent.payment_failed', 'payment_intent.failed'],
    ['payment_intent.failed', 'payment_intent.failed'],
    ['payment_intent.canceled', 'payment_intent.canceled'],
    ['payment_intent.processing', 'payment_intent.processing'],
    ['payment_intent.amount_capturable_updated', 'payment_intent.processing'],
    ['payment_intent.requires_action', 'payment_intent.requires_action'],
    ['payment_intent.partially_funded', null],
    ['payment_method.attached', 'payment_method.attached'],
    ['payment_method.detached', 'payment_method.detached'],
    ['payment_method.updated', 'payment_method.updated'],
    ['payment_method.automatically_updated', 'payment_method.updated'],
    ['customer.subscription.created', 'subscription.created'],
    ['customer.subscription.updated', 'subscription.updated'],
    ['customer.subscription.paused', 'subscription.updated'],
    ['customer.subscription.resumed', 'subscription.updated'],
    ['customer.subscription.deleted', 'subscription.deleted'],
    ['customer.subscription.trial_will_end', 'subscription.trial_will_end'],
    ['subscription.created', 'subscription.created'],
    ['subscription.updated', 'subscription.updated'],
    ['subscription.deleted', 'subscription.deleted'],
    ['subscription.trial_will_end', 'subscription.trial_will_end'],
    ['invoice.payment_succeeded', 'invoice.payment_succeeded'],
    ['invoice.payment_failed', 'invoice.payment_failed'],
    ['invoice.paid', null],
    ['customer.created', 'customer.created'],
    ['customer.updated', 'customer.updated'],
    ['customer.deleted', 'customer.deleted'],
    ['charge.succeeded', null],
    ['charge.failed', null],
    ['charge.refunded', null],
    ['charge.dispute.created', null],
    ['charge.dispute.closed', null],
    ['refund.created', null],
    ['refund.updated', null],
    ['refund.failed', null],
    ['charge.refund.updated', null],
    ['setup_intent.succeeded', null],
    ['something.new', null],
    ['constructor', null],
  ]
  for (const [type, generic_type] of names)
    t.match(
      readEvent(type, intentFixture),
      { provider_event_id: 'evt_1', provider_type: type, generic_type, occurred_at, object_id: 'pi_1' },
      type,
    )
})

t.test('Stripe: invalid fields of events that are not about payments are ignored', async (t) => {
  const odd = {
    id: 'a\u0000b',
    status: 5,
    customer: [],
    currency: 'euro',
    email: {},
    amount: 1.5,
    items: [],
    parent: 'x',
  }
  const types = [
    'something.new',
    'charge.succeeded',
    'charge.refunded',
    'charge.dispute.created',
    'customer.subscription.updated',
    'invoice.payment_succeeded',
    'customer.created',
    'payment_method.attached',
  ]
  for (const type of types)
    t.match(
      readEvent(type, odd, { status: {}, amount_refunded: 'x', customer: 7 }),
      { object_id: null, status: null, customer_id: null, customer_email: null, amount_cents: null, currency: null },
      type,
    )
})

t.test('Stripe: an unreadable payment event is accepted without a report', async (t) => {
  const odd: readonly [string, object][] = [
    ['no amount', { ...intentFixture, amount: undefined }],
    ['an amount as text', { ...intentFixture, amount: '2599' }],
    ['a fraction of a cent', { ...intentFixture, amount: 25.5 }],
    ['a negative amount', { ...intentFixture, amount: -1 }],
    ['a fraction of a króna', { ...intentFixture, currency: 'isk', amount: 50 }],
    ['no currency', { ...intentFixture, currency: null }],
    ['no id', { ...intentFixture, id: undefined }],
  ]
  const kept = {
    generic_type: 'payment_intent.succeeded',
    report: null,
    amount_cents: null,
    referenced_payment_id: null,
  }
  for (const [what, object] of odd) t.match(readEvent('payment_intent.succeeded', object), kept, what)
})

t.test('Stripe: a body that is not an event is an invalid request', async (t) => {
  const invalidRequest = { code: 'invalid_request' }
  const whole = eventFixture('payment_intent.succeeded', intentFixture)
  const broken: readonly [string, unknown][] = [
    ['a list', []],
    ['null', null],
    ['no id', { ...whole, id: undefined }],
    ['a control character', { ...whole, id: 'evt_\u0000' }],
    ['a long id', { ...whole, id: 'e'.repeat(201) }],
    ['an empty type', { ...whole, type: '' }],
  ]
  for (const [what, body] of broken) t.throws(() => readBody(body), invalidRequest, what)
  const [before, after] = JSON.stringify(eventFixture('customer.created', { id: 'cus_1', name: 'é' })).split('é')
  const bytes: readonly [string, Buffer][] = [
    ['not JSON', Buffer.from('no json')],
    ['an empty body', Buffer.from('')],
    ['a byte order mark', Buffer.from(`\ufeff${before}${after}`)],
    ['not UTF-8', Buffer.concat([Buffer.from(before ?? ''), Buffer.from([0xff]), Buffer.from(after ?? '')])],
  ]
  for (const [what, body] of bytes) t.throws(() => readNotification(body), invalidRequest, what)
})
