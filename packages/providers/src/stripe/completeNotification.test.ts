// Completing Stripe's notifications: thin events, and refunds that were not made here.
import type { FakeStripe } from '@paylog/testing/stripe/fakeStripe'
import t from 'tap'
import type { ProviderNotification } from '../provider.ts'
import { payment_id, refund_id } from '../testing/requests.ts'
import {
  readBody,
  refundRequest,
  stripeResponding,
  withCustomer,
  withIntent,
  withPaid,
} from './testing/stripeHarness.ts'

const sentBy = (fake: FakeStripe, type: string) => {
  const event = fake.events.findLast((each) => each.type === type)
  if (!event) throw new Error(`no ${type}`)
  return event
}

t.test('Stripe: a thin event is read without a call as far as it goes', async (t) => {
  const { fake, id } = await withIntent(t)
  fake.pay(id, 'succeeded')
  const event = fake.thin(sentBy(fake, 'payment_intent.succeeded'))
  t.match(readBody(event), {
    provider_event_id: event.id,
    provider_type: 'v1.payment_intent.succeeded',
    generic_type: 'payment_intent.succeeded',
    occurred_at: event.created,
    object_id: id,
    status: null,
    referenced_payment_id: null,
    report: { about: 'object', provider_intent_id: id, provider_payment_id: null },
  })
  const captured = { ...event, type: 'v1.charge.captured', related_object: { id: 'ch_1' } }
  t.match(readBody(captured), { generic_type: null, report: { about: 'object', provider_payment_id: 'ch_1' } })
  const meter = { ...event, type: 'v1.billing.meter.error_report_triggered', related_object: { id: 'mtr_1' } }
  t.match(readBody(meter), { generic_type: null, object_id: 'mtr_1', report: null, subscription: null })
  for (const type of ['v1.something', 'payment_intent.succeeded']) {
    const unread = { generic_type: null, object_id: null, report: null }
    t.match(readBody({ ...event, type, related_object: null }), unread, type)
  }
})

t.test('Stripe: a completed thin event is read like the snapshot event', async (t) => {
  const { fake, stripe, id } = await withIntent(t, { capture_method: 'manual' })
  const compare = async (types: readonly string[]) => {
    for (const type of types) {
      const event = sentBy(fake, type)
      const thin = fake.thin(event)
      const completed = await stripe.completeNotification(readBody(thin))
      const { provider_event_id, provider_type, report, ...facts } = completed
      const snapshot = await stripe.completeNotification(readBody(event))
      t.match({ provider_event_id, provider_type }, { provider_event_id: thin.id, provider_type: `v1.${type}` })
      t.same({ ...facts }, { ...factsOf(snapshot) }, type)
      t.same(report, snapshot.report && { ...snapshot.report, provider_event_id: thin.id }, `${type}: report`)
      t.ok(report, type)
    }
  }
  await compare(['payment_intent.created'])
  fake.pay(id, 'failed')
  await compare(['payment_intent.payment_failed', 'charge.failed'])
  fake.pay(id, 'requires_action')
  await compare(['payment_intent.requires_action'])
  fake.pay(id, 'succeeded')
  await compare(['payment_intent.amount_capturable_updated'])
  fake.pay(id, 'succeeded')
  await compare(['payment_intent.succeeded', 'charge.succeeded'])
  await stripe.refund(refundRequest(id))
  await compare(['refund.created', 'charge.refunded'])
  fake.refund(id, 100)
  await compare(['refund.created'])
  fake.changeRefund(fake.refundsOf(id)[0]?.id ?? '', 'failed')
  await compare(['refund.failed', 'refund.updated', 'charge.refund.updated'])
  fake.dispute(id)
  await compare(['charge.dispute.created', 'charge.dispute.funds_withdrawn'])
})

function factsOf({ provider_event_id: _id, provider_type: _type, report: _report, ...facts }: ProviderNotification) {
  return facts
}

t.test('Stripe: a completed thin event about a customer or a method is read like the snapshot event', async (t) => {
  const { fake, stripe, provider_customer_id } = await withCustomer(t)
  const { id } = fake.addMethod()
  const events = [
    fake.event('customer.updated', { id: provider_customer_id, object: 'customer' }),
    fake.event('payment_method.updated', { id, object: 'payment_method' }),
  ]
  const completed = await Promise.all(events.map((event) => stripe.completeNotification(readBody(fake.thin(event)))))
  t.match(completed, [
    {
      generic_type: 'customer.updated',
      customer_id: provider_customer_id,
      customer_email: 'user@example.com',
      report: null,
    },
    { generic_type: 'payment_method.updated', object_id: id, customer_id: null, report: null },
  ])
})

t.test('Stripe: a thin event about a changed object has the status of its type', async (t) => {
  const { fake, stripe, id } = await withIntent(t)
  fake.pay(id, 'failed')
  const failed = fake.thin(sentBy(fake, 'payment_intent.payment_failed'))
  fake.pay(id, 'succeeded')
  t.match(await stripe.completeNotification(readBody(failed)), {
    generic_type: 'payment_intent.failed',
    status: 'succeeded',
    referenced_payment_id: payment_id,
    report: { about: 'status', status: 'failed', failure_code: 'failed', provider_payment_id: null },
  })
})

t.test('Stripe: a thin event about another system’s intent has no report', async (t) => {
  const { fake, stripe } = await withIntent(t)
  const { id } = fake.openIntent({ amount: 100, currency: 'eur' })
  fake.pay(id, 'succeeded')
  const thin = fake.thin(sentBy(fake, 'payment_intent.succeeded'))
  t.match(await stripe.completeNotification(readBody(thin)), {
    amount_cents: 100,
    referenced_payment_id: null,
    report: null,
  })
})

t.test('Stripe: a thin event that cannot be completed is unchanged', async (t) => {
  const { fake, stripe } = await withPaid(t)
  const thin = fake.thin(sentBy(fake, 'payment_intent.succeeded'))
  const before = fake.calls.length
  const related = (objectId: string) => ({ ...thin, related_object: { id: objectId, type: 'x', url: 'x' } })
  const uncalled = [
    { ...thin, type: 'v2.core.account.updated' },
    { ...thin, type: 'v1.charge.captured' },
    { ...thin, type: 'v1.billing.meter.no_meter_found' },
    { ...thin, type: 'payment_intent.succeeded' },
    { ...thin, related_object: null },
    related('../customers/cus_1'),
  ]
  for (const event of uncalled) {
    const notification = readBody(event)
    t.same(await stripe.completeNotification(notification), notification, event.type)
  }
  t.equal(fake.calls.length, before, 'no call')
  const missing = readBody(related('pi_missing'))
  t.same(await stripe.completeNotification(missing), missing, 'an object that Stripe does not know')
  const paid = readBody(sentBy(fake, 'payment_intent.succeeded'))
  t.equal(await stripe.completeNotification(paid), paid, 'a snapshot event')
})

t.test('Stripe: a thin event is not completed by another object, or while Stripe does not respond', async (t) => {
  const { fake, stripe } = await withPaid(t, {}, { timeoutMs: 440 })
  const notification = readBody(fake.thin(sentBy(fake, 'payment_intent.succeeded')))
  fake.readFaults.always({ kind: 'status', status: 503, commits: false })
  await t.rejects(stripe.completeNotification(notification), { name: 'ProviderError', kind: 'unknown' })
  const other = await stripeResponding(t, { id: 'pi_other' })
  await t.rejects(other.stripe.completeNotification(notification), { kind: 'unknown', code: 'another_object' })
})

t.test('Stripe: a refund from the Dashboard finds its payment by its charge', async (t) => {
  const { fake, stripe, id, chargeId } = await withPaid(t)
  const [created] = fake.refund(id, 100)
  const object = { ...created?.data.object, payment_intent: null }
  const notification = readBody(fake.event('refund.created', object))
  t.match(notification, { referenced_payment_id: null, report: { provider_intent_id: null } })
  t.match(await stripe.completeNotification(notification), {
    referenced_payment_id: payment_id,
    report: { about: 'refund', amount_cents: 100, provider_intent_id: id, provider_payment_id: chargeId() },
  })
  const unknown = readBody(fake.event('refund.created', { ...object, charge: 'ch_missing' }))
  t.same(await stripe.completeNotification(unknown), unknown, 'of a charge that Stripe does not know')
})

t.test('Stripe: a refund of ours is not asked about', async (t) => {
  const { fake, stripe, id } = await withPaid(t)
  await stripe.refund(refundRequest(id))
  const before = fake.calls.length
  const notification = readBody(sentBy(fake, 'refund.created'))
  t.match(notification, { referenced_payment_id: payment_id, report: { refund_id } })
  t.equal(await stripe.completeNotification(notification), notification)
  t.equal(fake.calls.length, before)
})

t.test('Stripe: a refund that released an authorization only identifies its payment', async (t) => {
  const canceled = await withPaid(t, { capture_method: 'manual' })
  canceled.fake.pay(canceled.id, 'canceled')
  const partial = await withPaid(t, { capture_method: 'manual' })
  const request = { ...refundRequest(partial.id), amount_cents: 2000 }
  await partial.stripe.captureAuthorized({ ...request, idempotency_key: 'capture' })
  for (const { fake, stripe, id, chargeId } of [canceled, partial]) {
    const notification = await stripe.completeNotification(readBody(sentBy(fake, 'refund.created')))
    const ids = { provider_intent_id: id, provider_payment_id: chargeId() }
    t.match(notification, { referenced_payment_id: payment_id, report: { about: 'object', ...ids } })
  }
  partial.fake.refund(partial.id, 599)
  const later = await partial.stripe.completeNotification(readBody(sentBy(partial.fake, 'refund.created')))
  t.match(later.report, { about: 'refund', amount_cents: 599 }, 'a later refund of the same amount')
})
