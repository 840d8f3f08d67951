// Payment reports in Stripe's events: statuses, refunds, disputes, and events that report nothing new.

import { startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import t from 'tap'
import { readNotification } from './notifications.ts'
import { createdSeconds, intentFixture, occurred_at, payment_id, readEvent } from './testing/stripeHarness.ts'

t.test('Stripe: an intent event is evidence of the payment status', async (t) => {
  const statuses: readonly [string, string][] = [
    ['payment_intent.requires_action', 'pending'],
    ['payment_intent.processing', 'processing'],
    ['payment_intent.amount_capturable_updated', 'processing'],
    ['payment_intent.succeeded', 'succeeded'],
    ['payment_intent.payment_failed', 'failed'],
    ['payment_intent.canceled', 'canceled'],
  ]
  for (const [type, status] of statuses)
    t.match(
      readEvent(type, {
        ...intentFixture,
        latest_charge: 'ch_1',
        metadata: { payment_id },
        receipt_email: 'user@example.com',
      }),
      {
        amount_cents: 2599,
        currency: 'EUR',
        status: 'processing',
        customer_id: 'cus_1',
        customer_email: 'user@example.com',
        referenced_payment_id: payment_id,
        report: {
          about: 'status',
          status,
          provider_time: occurred_at,
          provider_event_id: 'evt_1',
          provider_intent_id: 'pi_1',
          provider_payment_id: status === 'failed' ? null : 'ch_1',
          amount_cents: 2599,
          currency: 'EUR',
        },
        subscription: null,
      },
      type,
    )
})

t.test('Stripe: a failure has the charge that failed, or none', async (t) => {
  const failed = (charge?: object | string) => {
    const last_payment_error = { type: 'card_error', ...(charge === undefined ? {} : { charge }) }
    const { report } = readEvent('payment_intent.payment_failed', {
      ...intentFixture,
      latest_charge: 'ch_1',
      last_payment_error,
    })
    return report?.provider_payment_id
  }
  t.equal(failed('ch_2'), 'ch_2')
  t.equal(failed({ id: 'ch_3', object: 'charge' }), 'ch_3')
  t.equal(failed(), null, 'the latest charge belongs to an earlier attempt')
})

t.test('Stripe: a created intent is reported without a status', async (t) => {
  t.match(readEvent('payment_intent.created', { ...intentFixture, metadata: { payment_id } }), {
    amount_cents: 2599,
    currency: 'EUR',
    referenced_payment_id: payment_id,
    report: { about: 'object', provider_intent_id: 'pi_1', provider_payment_id: null },
  })
})

t.test('Stripe: a success has the received amount', async (t) => {
  const { report, amount_cents } = readEvent('payment_intent.succeeded', { ...intentFixture, amount_received: 1000 })
  t.match(report, { amount_cents: 1000 })
  t.equal(amount_cents, 1000)
  t.match(readEvent('payment_intent.succeeded', { ...intentFixture, currency: 'isk', amount: 500 }), {
    amount_cents: 5,
  })
})

t.test('Stripe: a failure has the bank’s code and our own message', async (t) => {
  const error = { type: 'card_error', code: 'card_declined', message: 'Your card 4242 was declined.' }
  const failed = (last_payment_error: object | null) =>
    readEvent('payment_intent.payment_failed', { ...intentFixture, last_payment_error }).report
  t.match(failed({ ...error, decline_code: 'lost_card' }), { failure_code: 'lost_card' })
  t.match(failed(error), { failure_code: 'card_declined', failure_message: 'The payment was declined' })
  t.match(failed({ type: 'api_error' }), { failure_code: 'api_error' })
  t.match(failed(null), { failure_code: 'failed' })
  const canceled = readEvent('payment_intent.canceled', { ...intentFixture, cancellation_reason: 'duplicate' }).report
  t.match(canceled, { reason: 'duplicate' })
})

t.test('Stripe: metadata.payment_id is read only if it is a UUID', async (t) => {
  for (const metadata of [{ payment_id: 'order-17' }, { payment_id: '' }, {}, null, undefined])
    t.equal(readEvent('payment_intent.succeeded', { ...intentFixture, metadata }).referenced_payment_id, null)
})

t.test('Stripe: referenced objects may be expanded', async (t) => {
  const written = readEvent('payment_intent.succeeded', {
    ...intentFixture,
    customer: { id: 'cus_2', object: 'customer' },
    latest_charge: { id: 'ch_2', object: 'charge' },
  })
  t.match(written, { customer_id: 'cus_2', report: { provider_payment_id: 'ch_2' } })
})

t.test('Stripe: a refund is the difference to the previous sum of refunds', async (t) => {
  const charge = { id: 'ch_1', amount: 2599, amount_refunded: 1500, currency: 'eur', payment_intent: 'pi_1' }
  const refund = readEvent('charge.refunded', { ...charge, metadata: { payment_id } }, { amount_refunded: 500 })
  t.match(refund, {
    object_id: 'ch_1',
    amount_cents: 2599,
    referenced_payment_id: payment_id,
    report: {
      about: 'refund',
      refund_id: null,
      refunded_cents: 1000,
      provider_intent_id: 'pi_1',
      provider_payment_id: 'ch_1',
      provider_event_id: 'evt_1',
      provider_time: occurred_at,
    },
  })
  const refunds = {
    data: [
      { id: 're_2', amount: 1000 },
      { id: 're_1', amount: 500 },
    ],
  }
  t.match(readEvent('charge.refunded', { ...charge, refunds }, { amount_refunded: 500 }), {
    report: { refund_id: 're_2' },
  })
  t.match(readEvent('charge.refunded', charge), { report: { refunded_cents: null } }, 'without the previous sum')
  t.match(
    readEvent('charge.refunded', charge, { amount_refunded: 2000 }),
    { report: { refunded_cents: null } },
    'a sum below the previous one',
  )
  const isk = { ...charge, currency: 'isk', amount_refunded: 1500 }
  t.match(readEvent('charge.refunded', isk, { amount_refunded: 500 }), { report: { refunded_cents: 10 } })
})

t.test('Stripe: each dispute event reports the dispute and its status', async (t) => {
  const types = ['created', 'updated', 'closed', 'funds_withdrawn', 'funds_reinstated']
  const dispute = { id: 'dp_1', amount: 1000, currency: 'eur', charge: 'ch_1', payment_intent: 'pi_1', status: 'Lost' }
  for (const type of types)
    t.match(readEvent(`charge.dispute.${type}`, dispute).report, {
      about: 'dispute',
      dispute_id: 'dp_1',
      dispute_status: 'lost',
      disputed_cents: 1000,
      provider_intent_id: 'pi_1',
      provider_payment_id: 'ch_1',
    })
  t.match(readEvent('charge.dispute.closed', { id: 'dp_1' }).report, {
    dispute_status: 'unknown',
    disputed_cents: null,
    provider_intent_id: null,
    provider_payment_id: null,
  })
})

t.test('Stripe: charge, refund and invoice.paid events do not report money a second time', async (t) => {
  const charge = { id: 'ch_1', amount: 2599, currency: 'eur', payment_intent: 'pi_1', status: 'succeeded' }
  t.match(readEvent('invoice.paid', charge), { generic_type: null, report: null, subscription: null })
  const report = { about: 'object', provider_intent_id: 'pi_1', provider_payment_id: 'ch_1' }
  for (const type of ['charge.succeeded', 'charge.failed', 'charge.captured'])
    t.match(readEvent(type, { ...charge, object: 'charge' }), { generic_type: null, report }, type)
  const refund = { id: 're_1', object: 'refund', amount: 599, currency: 'eur', charge: 'ch_1', payment_intent: 'pi_1' }
  t.match(readEvent('refund.created', refund), { generic_type: null, report })
})

t.test('Stripe: all notifications of the fake are readable', async (t) => {
  const fake = await startFakeStripe(t, { now: () => new Date(createdSeconds * 1000) })
  const { id } = fake.openIntent({ amount: 2599, currency: 'eur', metadata: { payment_id } })
  for (const outcome of ['failed', 'requires_action', 'processing', 'succeeded'] as const) fake.pay(id, outcome)
  fake.refund(id, 599)
  fake.refund(id)
  fake.dispute(id)
  const received = fake.events.map((sent) => readNotification(Buffer.from(fake.signed(sent).body)))
  const reports = received.flatMap(({ report }) => (report === null ? [] : [report]))
  t.same(
    reports
      .filter(({ about }) => about !== 'object')
      .map((report) => (report.about === 'status' ? report.status : report.about)),
    ['failed', 'pending', 'processing', 'succeeded', 'refund', 'refund', 'dispute', 'dispute'],
  )
  t.same(
    reports.flatMap((report) => (report.about === 'refund' ? [report.refunded_cents] : [])),
    [599, 2000],
  )
  t.same(new Set(reports.map(({ provider_intent_id }) => provider_intent_id)), new Set([id]))
})
