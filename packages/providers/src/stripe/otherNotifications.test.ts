// Stripe's events that identify a payment without reporting its status, and events about other systems' payments.
import t from 'tap'
import { payment_id } from '../testing/requests.ts'
import { eventFixture, intentFixture, readBody, readEvent } from './testing/stripeHarness.ts'

const intent = { ...intentFixture, object: 'payment_intent' }
const charge = { id: 'ch_1', object: 'charge', amount: 2599, currency: 'eur', payment_intent: 'pi_1' }
const refund = { id: 're_1', object: 'refund', amount: 599, currency: 'eur', charge: 'ch_1', payment_intent: 'pi_1' }
const dispute = { ...refund, id: 'dp_1', object: 'dispute' }
const review = { id: 'prv_1', object: 'review', charge: 'ch_1', payment_intent: 'pi_1' }

const unmapped: readonly [string, object][] = [
  ['charge.captured', charge],
  ['charge.expired', charge],
  ['charge.pending', charge],
  ['charge.updated', charge],
  ['refund.something_new', refund],
  ['charge.dispute.something_new', dispute],
  ['review.opened', review],
  ['review.closed', review],
]

t.test('Stripe: an unmapped event about a payment identifies its intent and charge', async (t) => {
  const ids = { provider_intent_id: 'pi_1', provider_payment_id: 'ch_1' }
  for (const [type, object] of unmapped)
    t.match(
      readEvent(type, object),
      {
        generic_type: null,
        amount_cents: null,
        currency: null,
        referenced_payment_id: null,
        report: { about: 'object', provider_event_id: 'evt_1', ...ids },
      },
      type,
    )
  t.match(readEvent('payment_intent.partially_funded', intent), {
    generic_type: null,
    amount_cents: null,
    report: { about: 'object', provider_intent_id: 'pi_1', provider_payment_id: null },
  })
})

t.test('Stripe: an unmapped event has the payment id of its metadata', async (t) => {
  const metadata = { payment_id }
  for (const [type, object] of [...unmapped, ['payment_intent.partially_funded', intent] as const])
    t.match(
      readEvent(type, { ...object, metadata }),
      { referenced_payment_id: payment_id, report: { about: 'object' } },
      type,
    )
  t.equal(readEvent('charge.updated', { ...charge, metadata: { payment_id: 'order-17' } }).referenced_payment_id, null)
})

t.test('Stripe: objects that are not payments have no report', async (t) => {
  const objects = ['invoice', 'subscription', 'checkout.session', 'setup_intent', 'payout', 'constructor', undefined]
  for (const object of objects) {
    const body = { id: 'x_1', object, charge: 'ch_1', payment_intent: 'pi_1', metadata: { payment_id } }
    for (const type of ['invoice.paid', 'customer.subscription.updated', 'something.new'])
      t.match(readEvent(type, body), { referenced_payment_id: null, report: null }, `${type} ${object}`)
  }
})

t.test('Stripe: an intent whose metadata names no payment is another system’s and has no report', async (t) => {
  const types = ['created', 'succeeded', 'payment_failed', 'canceled', 'partially_funded']
  for (const name of types) {
    const report = (object: object) => readEvent(`payment_intent.${name}`, object).report
    t.equal(report({ ...intent, metadata: {} }), null, name)
    t.equal(report({ ...intent, metadata: { payment_id: 'order-17' } }), null, name)
    t.ok(report({ ...intent, metadata: { payment_id } }), `${name} of ours`)
    t.ok(report(intent), `${name} without metadata`)
  }
  const foreign = readEvent('payment_intent.succeeded', { ...intent, metadata: {} })
  t.match(foreign, { generic_type: 'payment_intent.succeeded', amount_cents: 2599, currency: 'EUR' }, 'what it says')
})

t.test('Stripe: other objects keep their report when their metadata name no payment', async (t) => {
  const types = ['charge.succeeded', 'charge.failed', 'charge.refunded', 'charge.dispute.created', 'charge.updated']
  for (const type of types) {
    const object = type.startsWith('charge.dispute.') ? dispute : charge
    const { referenced_payment_id, report } = readEvent(type, { ...object, metadata: { order: '17' } })
    t.equal(referenced_payment_id, null, type)
    t.match(report, { provider_intent_id: 'pi_1', provider_payment_id: 'ch_1' }, type)
  }
  for (const type of ['charge.succeeded', 'charge.failed'])
    t.equal(readEvent(type, charge).report?.about, 'object', 'the event of the intent reports the money')
})

t.test('Stripe: a generic event without metadata keeps its report', async (t) => {
  const object = { id: 'any text', amount: 2599, currency: 'eur', status: 'succeeded', customer: null }
  t.match(readEvent('payment_intent.succeeded', object), {
    referenced_payment_id: null,
    report: { about: 'status', provider_intent_id: 'any text' },
  })
  t.equal(
    readEvent('payment_intent.succeeded', { ...object, metadata: { payment_id } }).referenced_payment_id,
    payment_id,
  )
})

t.test('Stripe: events of a connected account have no payment id and no report', async (t) => {
  const all: readonly [string, object][] = [
    ...unmapped,
    ['payment_intent.succeeded', intent],
    ['charge.refunded', charge],
    ['refund.created', refund],
    ['charge.dispute.created', dispute],
  ]
  for (const [type, object] of all) {
    const event = eventFixture(type, { ...object, metadata: { payment_id } })
    t.ok(readBody(event).report, type)
    t.match(readBody({ ...event, account: 'acct_other' }), { referenced_payment_id: null, report: null }, type)
  }
})
