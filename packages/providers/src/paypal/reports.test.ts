// What PayPal's notifications say about a payment: the bodies are those of PayPal, with made-up data.
import { event } from '@paylog/testing/paypal/events'
import t from 'tap'
import { readNotification } from './notifications.ts'
import { approvedOrder, capture, createRequest, paymentId, paypalHarness } from './testing/paypalHarness.ts'

const read = (type: string, resource: unknown, resource_type?: string) => {
  const about = { resource: resource as object, ...(resource_type === undefined ? {} : { resource_type }) }
  return readNotification(Buffer.from(event(type, about).body))
}

t.test('an approved order is on its way, and says who the payer is', async (t) => {
  const { fake, paypal } = await paypalHarness(t)
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
    referenced_payment_id: paymentId,
    report: {
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
})

t.test('an approval that was reversed cancels, although it has no whole order', async (t) => {
  const { fake, paypal } = await paypalHarness(t)
  const { provider_intent_id } = await approvedOrder({ fake, paypal })
  t.match(readNotification(Buffer.from(fake.reverseApproval(provider_intent_id).body)), {
    object_id: provider_intent_id,
    referenced_payment_id: paymentId,
    amount_cents: null,
    report: {
      about: 'status',
      status: 'canceled',
      provider_intent_id,
      provider_payment_id: null,
      amount_cents: null,
    },
  })
})

t.test('a capture is told of by the order and by itself', async (t) => {
  const { fake, paypal } = await paypalHarness(t)
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
    referenced_payment_id: paymentId,
    customer_id: null,
    report: { about: 'status', status, provider_intent_id, provider_payment_id: captureId, amount_cents: 1999 },
  })
  t.match(readNotification(Buffer.from(pending?.body ?? '')), { ...told('processing'), status: 'pending' })
  const completed = fake.settleCapture(captureId, 'completed')
  t.match(readNotification(Buffer.from(completed.body)), { ...told('succeeded'), status: 'completed' })
})

t.test('a denied capture says why, as far as PayPal does', async (t) => {
  const { fake, paypal } = await paypalHarness(t)
  const ref = await approvedOrder({ fake, paypal })
  fake.nextCaptures('pending')
  const { evidence } = await capture(paypal, ref, 'c1')
  const denied = readNotification(Buffer.from(fake.settleCapture(evidence.provider_payment_id ?? '', 'denied').body))
  t.match(denied, {
    generic_type: 'payment_intent.failed',
    status: 'declined',
    report: { status: 'failed', failure_code: 'capture_declined', provider_intent_id: ref.provider_intent_id },
  })
  const declined = read('PAYMENT.CAPTURE.DECLINED', { id: 'C1', status_details: { reason: 'ECHECK' } })
  t.match(declined.report, { status: 'failed', failure_code: 'echeck', failure_message: /^PayPal could not/ })
})

t.test('an authorization is on its way, or void', (t) => {
  const resource = { id: 'A1', supplementary_data: { related_ids: { order_id: 'O1' } }, custom_id: paymentId }
  const said = { about: 'status', provider_intent_id: 'O1', provider_payment_id: null }
  t.match(read('PAYMENT.AUTHORIZATION.CREATED', resource).report, { ...said, status: 'processing' })
  t.match(read('PAYMENT.AUTHORIZATION.VOIDED', resource).report, { ...said, status: 'canceled' })
  t.equal(read('PAYMENT.AUTHORIZATION.EXPIRED', resource).report, null)
  t.end()
})

t.test('a success over an amount that cannot be read says nothing, because PayPal can be asked', (t) => {
  const unreadable = [
    undefined,
    null,
    {},
    { value: '1.00' },
    { currency_code: 'EUR' },
    { currency_code: 'EUR', value: '1.005' },
    { currency_code: 'eur', value: '1' },
  ]
  const about = { id: 'C1', custom_id: paymentId, supplementary_data: { related_ids: { order_id: 'O1' } } }
  for (const type of ['PAYMENT.CAPTURE.COMPLETED', 'payment_intent.succeeded'])
    for (const amount of unreadable)
      t.match(read(type, { ...about, amount }), {
        generic_type: 'payment_intent.succeeded',
        amount_cents: null,
        referenced_payment_id: paymentId,
        report: null,
      })
  t.match(read('PAYMENT.CAPTURE.PENDING', about).report, { status: 'processing', amount_cents: null }, 'no success')
  t.end()
})

t.test('what happens to an order is about its payment, and mostly leaves what becomes of it to others', async (t) => {
  const { fake, paypal } = await paypalHarness(t)
  const ref = await approvedOrder({ fake, paypal })
  const order = { id: ref.provider_intent_id, purchase_units: [{ custom_id: paymentId }] }
  const said = { provider_intent_id: order.id, provider_payment_id: null }
  for (const name of ['CREATED', 'SAVED', 'PAYER-ACTION-REQUIRED', 'COMPLETED', 'SOMETHING-NEW'])
    for (const status of ['CREATED', 'COMPLETED', 'VOIDED', undefined])
      t.match(
        read(`CHECKOUT.ORDER.${name}`, { ...order, status }, 'checkout-order'),
        { referenced_payment_id: paymentId, report: { about: 'mention', ...said } },
        `${name} ${status}`,
      )
  t.match(read('CHECKOUT.ORDER.VOIDED', { ...order, status: 'VOIDED' }).report, { ...said, status: 'canceled' })
  await capture(paypal, ref, 'c1')
  const completed = fake.events.find(({ event_type }) => event_type === 'CHECKOUT.ORDER.COMPLETED')
  const { id: provider_event_id, body } = completed ?? { id: '', body: '' }
  const told = readNotification(Buffer.from(body))
  t.match(told, { generic_type: null, amount_cents: 1999, currency: 'EUR' })
  t.same(told.report, { about: 'mention', ...said, provider_event_id, provider_time: told.occurred_at })
  const captured = JSON.parse(body).resource
  t.match(read('CHECKOUT.ORDER.APPROVED', captured).report, { ...said, status: 'processing' })
})

t.test('a capture that does not name its order links to it, or names the payment and itself', (t) => {
  const denied = {
    id: 'C1',
    status: 'DECLINED',
    amount: { currency_code: 'EUR', value: '19.99' },
    custom_id: paymentId,
  }
  const up = { rel: 'up', href: 'https://api.paypal.com/v2/checkout/orders/5AB00000CD1111111' }
  const self = { rel: 'self', href: 'https://api.paypal.com/v2/payments/captures/C1' }
  const said = { referenced_payment_id: paymentId, report: { status: 'failed', provider_payment_id: 'C1' } }
  t.match(read('PAYMENT.CAPTURE.DENIED', { ...denied, links: [self, up] }, 'capture'), {
    ...said,
    report: { ...said.report, provider_intent_id: '5AB00000CD1111111' },
  })
  const authorization = { rel: 'up', href: 'https://api.paypal.com/v2/payments/authorizations/A1' }
  for (const links of [undefined, [], [self], [self, authorization]])
    t.match(read('PAYMENT.CAPTURE.DENIED', { ...denied, links }, 'capture'), {
      ...said,
      report: { ...said.report, provider_intent_id: null },
    })
  t.end()
})

t.test('by a generic name an event is about the order that its object is, or names [6.1-wallet-generic]', (t) => {
  const amount = { currency_code: 'EUR', value: '19.99' }
  const related = { supplementary_data: { related_ids: { order_id: 'O9' } } }
  const statuses = { requires_action: 'pending', processing: 'processing', succeeded: 'succeeded' }
  for (const [name, status] of Object.entries(statuses)) {
    const said = { about: 'status', status, provider_payment_id: null, amount_cents: 1999, currency: 'EUR' }
    const type = `payment_intent.${name}`
    t.match(read(type, { id: 'O1', amount }), { generic_type: type, report: { ...said, provider_intent_id: 'O1' } })
    t.match(read(type, { id: 'C1', amount, ...related }).report, { ...said, provider_intent_id: 'O9' })
  }
  const created = { about: 'mention', provider_intent_id: 'O1', provider_payment_id: null }
  t.match(read('payment_intent.created', { id: 'O1' }).report, created)
  t.match(read('payment_intent.failed', { id: 'O1' }).report, { failure_code: 'capture_declined' })
  t.end()
})

t.test('a refund names its capture by a link alone', async (t) => {
  const { fake, paypal } = await paypalHarness(t)
  const ref = await approvedOrder({ fake, paypal })
  const { evidence } = await capture(paypal, ref, 'c1')
  const captureId = evidence.provider_payment_id ?? ''
  const refund = readNotification(Buffer.from(fake.refund(captureId, '5.00').body))
  t.match(refund, {
    generic_type: null,
    amount_cents: 500,
    currency: 'EUR',
    referenced_payment_id: paymentId,
    report: {
      about: 'refund',
      refund_id: refund.object_id,
      refunded_cents: 500,
      provider_payment_id: captureId,
      provider_intent_id: null,
    },
  })
  const reversal = readNotification(Buffer.from(fake.reverse(captureId).body))
  t.match(reversal.report, { about: 'refund', refunded_cents: 1999, provider_payment_id: captureId })
})

t.test('a refund without a link to its capture', (t) => {
  const links = [{ rel: 'self', href: 'https://api.paypal.com/v2/payments/refunds/R1' }]
  const related = { supplementary_data: { related_ids: { capture_id: 'C9', order_id: 'O9' } } }
  t.match(read('PAYMENT.CAPTURE.REFUNDED', { id: 'R1', links }, 'refund').report, {
    refund_id: 'R1',
    provider_payment_id: null,
  })
  t.match(read('PAYMENT.CAPTURE.REFUNDED', { id: 'R1', ...related }, 'refund').report, {
    provider_payment_id: 'C9',
    provider_intent_id: 'O9',
  })
  t.match(read('PAYMENT.CAPTURE.REVERSED', { id: 'C1', links: 'none' }, 'capture').report, {
    refund_id: null,
    provider_payment_id: 'C1',
  })
  t.end()
})

t.test('a dispute names the capture that is contested, and ours', async (t) => {
  const { fake, paypal } = await paypalHarness(t)
  const ref = await approvedOrder({ fake, paypal })
  const { evidence } = await capture(paypal, ref, 'c1')
  const captureId = evidence.provider_payment_id ?? ''
  const opened = readNotification(Buffer.from(fake.dispute(captureId).body))
  t.match(opened, {
    generic_type: null,
    object_id: /^PP-D-/,
    status: 'open',
    amount_cents: 1999,
    referenced_payment_id: paymentId,
    report: {
      about: 'dispute',
      dispute_id: opened.object_id,
      dispute_status: 'open',
      disputed_cents: 1999,
      provider_payment_id: captureId,
    },
  })
  const resolved = readNotification(Buffer.from(fake.dispute(captureId, 'RESOLVED').body))
  t.match(resolved.report, { about: 'dispute', dispute_status: 'resolved' })
  t.match(read('CUSTOMER.DISPUTE.UPDATED', {}).report, { dispute_id: null, dispute_status: 'unknown' })
})
