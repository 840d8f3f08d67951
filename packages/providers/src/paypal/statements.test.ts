// What PayPal's notifications say about a payment: the bodies are those of PayPal, with made-up data.
import { event } from '@paylog/testing/paypal/events'
import t from 'tap'
import { readNotification } from './notifications.ts'
import { approvedOrder, capture, createRequest, paymentId, startPaypal } from './testPaypal.ts'

const read = (type: string, resource: unknown, resource_type?: string) => {
  const about = { resource: resource as object, ...(resource_type === undefined ? {} : { resource_type }) }
  return readNotification(Buffer.from(event(type, about).body))
}

t.test('an approved order is on its way, and says who the payer is', async (t) => {
  const { fake, paypal } = await startPaypal(t)
  const { provider_intent_id } = await paypal.createIntent(createRequest)
  const approved = fake.approve(provider_intent_id)
  const { create_time } = JSON.parse(approved.body)
  t.same(paypal.readNotification(Buffer.from(approved.body)), {
    provider_event_id: approved.id,
    provider_type: 'CHECKOUT.ORDER.APPROVED',
    generic_type: 'payment_intent.processing',
    occurred_at: create_time,
    object_id: provider_intent_id,
    amount_cents: 1999,
    currency: 'EUR',
    status: 'approved',
    customer_id: 'QYR5Z8XDVJNXQ',
    customer_email: 'pat@example.com',
    claimed_payment_id: paymentId,
    statement: {
      about: 'status',
      status: 'processing',
      provider_event_id: approved.id,
      provider_time: create_time,
      provider_intent_id,
      provider_payment_id: null,
      amount_cents: 1999,
      currency: 'EUR',
    },
    subscription: null,
  })
  t.equal(paypal.completeNotification, null)
})

t.test('an approval that was reversed cancels, although it has no whole order', async (t) => {
  const { fake, paypal } = await startPaypal(t)
  const { provider_intent_id } = await approvedOrder({ fake, paypal })
  t.match(readNotification(Buffer.from(fake.reverseApproval(provider_intent_id).body)), {
    object_id: provider_intent_id,
    claimed_payment_id: paymentId,
    amount_cents: null,
    statement: {
      about: 'status',
      status: 'canceled',
      provider_intent_id,
      provider_payment_id: null,
      amount_cents: null,
    },
  })
})

t.test('a capture is told of by the order and by itself', async (t) => {
  const { fake, paypal } = await startPaypal(t)
  const ref = await approvedOrder({ fake, paypal })
  const { provider_intent_id } = ref
  fake.nextCaptures('pending')
  const { evidence } = await capture(paypal, ref, 'c1')
  const captureId = evidence.provider_payment_id ?? ''
  const pending = fake.events.at(-1)
  const told = (status: string) => ({
    object_id: captureId,
    amount_cents: 1999,
    currency: 'EUR',
    claimed_payment_id: paymentId,
    customer_id: null,
    statement: { about: 'status', status, provider_intent_id, provider_payment_id: captureId, amount_cents: 1999 },
  })
  t.match(readNotification(Buffer.from(pending?.body ?? '')), { ...told('processing'), status: 'pending' })
  const completed = fake.settleCapture(captureId, 'completed')
  t.match(readNotification(Buffer.from(completed.body)), { ...told('succeeded'), status: 'completed' })
})

t.test('a denied capture says why, as far as PayPal does', async (t) => {
  const { fake, paypal } = await startPaypal(t)
  const ref = await approvedOrder({ fake, paypal })
  fake.nextCaptures('pending')
  const { evidence } = await capture(paypal, ref, 'c1')
  const denied = readNotification(Buffer.from(fake.settleCapture(evidence.provider_payment_id ?? '', 'denied').body))
  t.match(denied, {
    generic_type: 'payment_intent.failed',
    status: 'declined',
    statement: { status: 'failed', failure_code: 'capture_declined', provider_intent_id: ref.provider_intent_id },
  })
  const declined = read('PAYMENT.CAPTURE.DECLINED', { id: 'C1', status_details: { reason: 'ECHECK' } })
  t.match(declined.statement, { status: 'failed', failure_code: 'echeck', failure_message: /^PayPal could not/ })
})

t.test('an authorization is on its way, or void', (t) => {
  const resource = { id: 'A1', supplementary_data: { related_ids: { order_id: 'O1' } }, custom_id: paymentId }
  const said = { about: 'status', provider_intent_id: 'O1', provider_payment_id: null }
  t.match(read('PAYMENT.AUTHORIZATION.CREATED', resource).statement, { ...said, status: 'processing' })
  t.match(read('PAYMENT.AUTHORIZATION.VOIDED', resource).statement, { ...said, status: 'canceled' })
  t.equal(read('PAYMENT.AUTHORIZATION.EXPIRED', resource).statement, null)
  t.end()
})

t.test('a success over an amount that cannot be read is no statement', (t) => {
  for (const amount of [
    undefined,
    null,
    {},
    { currency_code: 'EUR', value: '1.005' },
    { currency_code: 'eur', value: '1' },
  ])
    t.match(read('PAYMENT.CAPTURE.COMPLETED', { id: 'C1', amount, custom_id: paymentId }), {
      generic_type: 'payment_intent.succeeded',
      amount_cents: null,
      claimed_payment_id: paymentId,
      statement: null,
    })
  t.end()
})

t.test('a refund names its capture by a link alone', async (t) => {
  const { fake, paypal } = await startPaypal(t)
  const ref = await approvedOrder({ fake, paypal })
  const { evidence } = await capture(paypal, ref, 'c1')
  const captureId = evidence.provider_payment_id ?? ''
  const refund = readNotification(Buffer.from(fake.refund(captureId, '5.00').body))
  t.match(refund, {
    generic_type: null,
    amount_cents: 500,
    currency: 'EUR',
    claimed_payment_id: paymentId,
    statement: {
      about: 'refund',
      refund_id: refund.object_id,
      refunded_cents: 500,
      provider_payment_id: captureId,
      provider_intent_id: null,
    },
  })
  const reversal = readNotification(Buffer.from(fake.reverse(captureId).body))
  t.match(reversal.statement, { about: 'refund', refunded_cents: 1999, provider_payment_id: captureId })
})

t.test('a refund without a link to its capture', (t) => {
  const links = [{ rel: 'self', href: 'https://api.paypal.com/v2/payments/refunds/R1' }]
  const related = { supplementary_data: { related_ids: { capture_id: 'C9', order_id: 'O9' } } }
  t.match(read('PAYMENT.CAPTURE.REFUNDED', { id: 'R1', links }, 'refund').statement, {
    refund_id: 'R1',
    provider_payment_id: null,
  })
  t.match(read('PAYMENT.CAPTURE.REFUNDED', { id: 'R1', ...related }, 'refund').statement, {
    provider_payment_id: 'C9',
    provider_intent_id: 'O9',
  })
  t.match(read('PAYMENT.CAPTURE.REVERSED', { id: 'C1', links: 'none' }, 'capture').statement, {
    refund_id: null,
    provider_payment_id: 'C1',
  })
  t.end()
})

t.test('a dispute names the capture that is contested, and ours', async (t) => {
  const { fake, paypal } = await startPaypal(t)
  const ref = await approvedOrder({ fake, paypal })
  const { evidence } = await capture(paypal, ref, 'c1')
  const captureId = evidence.provider_payment_id ?? ''
  const opened = readNotification(Buffer.from(fake.dispute(captureId).body))
  t.match(opened, {
    generic_type: null,
    object_id: /^PP-D-/,
    status: 'open',
    amount_cents: 1999,
    claimed_payment_id: paymentId,
    statement: {
      about: 'dispute',
      dispute_id: opened.object_id,
      dispute_status: 'open',
      disputed_cents: 1999,
      provider_payment_id: captureId,
    },
  })
  const resolved = readNotification(Buffer.from(fake.dispute(captureId, 'RESOLVED').body))
  t.match(resolved.statement, { about: 'dispute', dispute_status: 'resolved' })
  t.match(read('CUSTOMER.DISPUTE.UPDATED', {}).statement, { dispute_id: null, dispute_status: 'unknown' })
})
