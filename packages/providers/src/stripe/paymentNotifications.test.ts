// Payment reports in Stripe's events: statuses, and events that report nothing new.

import t from 'tap'
import { payment_id } from '../testing/requests.ts'
import { intentFixture, occurred_at, readEvent } from './testing/stripeHarness.ts'

t.test('Stripe: an intent event reports the payment status', async (t) => {
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

t.test('Stripe: an authorization is processing, with what can be captured', async (t) => {
  const intent = { ...intentFixture, status: 'requires_capture', amount_capturable: 2599, capture_method: 'manual' }
  const authorized = readEvent('payment_intent.amount_capturable_updated', intent)
  t.match(authorized, {
    generic_type: 'payment_intent.processing',
    report: { about: 'status', status: 'processing', capturable_cents: 2599 },
  })
  const captured = readEvent('payment_intent.succeeded', { ...intent, amount_capturable: 0, amount_received: 2000 })
  t.match(captured.report, { status: 'succeeded', amount_cents: 2000 })
  t.notOk('capturable_cents' in (captured.report ?? {}))
  const isk = { ...intent, currency: 'isk', amount: 500, amount_capturable: 500 }
  t.match(readEvent('payment_intent.amount_capturable_updated', isk).report, { capturable_cents: 5 })
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
