// Payment reports in PayPal's notifications. The bodies have PayPal's format with invented data.
import t from 'tap'
import { payment_id } from '../testing/requests.ts'
import { capture, orderRequest, paypalHarness, readBody, readEvent, withApproved } from './testing/paypalHarness.ts'

t.test('PayPal: an approved order is processing and has the payer', async (t) => {
  const { fake, paypal } = await paypalHarness(t)
  const { provider_intent_id } = await paypal.createIntent(orderRequest)
  const approved = fake.approve(provider_intent_id)
  const { create_time } = JSON.parse(approved.body)
  t.same(readBody(approved), {
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
    referenced_payment_id: payment_id,
    report: {
      about: 'status',
      awaits_capture: true,
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

t.test('PayPal: a reversed approval cancels the payment, even with an incomplete order', async (t) => {
  const { fake, ref } = await withApproved(t)
  const { provider_intent_id } = ref
  t.match(readBody(fake.reverseApproval(provider_intent_id)), {
    object_id: provider_intent_id,
    referenced_payment_id: payment_id,
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

t.test('PayPal: pending and completed captures report their status', async (t) => {
  const { fake, paypal, ref } = await withApproved(t)
  const { provider_intent_id } = ref
  fake.nextCaptures('pending')
  const { report } = await capture(paypal, ref, 'c1')
  const captureId = report.provider_payment_id ?? ''
  const pending = fake.events.at(-1)
  const expected = (status: string) => ({
    object_id: captureId,
    amount_cents: 1999,
    currency: 'EUR',
    referenced_payment_id: payment_id,
    customer_id: null,
    report: { about: 'status', status, provider_intent_id, provider_payment_id: captureId, amount_cents: 1999 },
  })
  t.match(readBody(pending ?? { body: '' }), { ...expected('processing'), status: 'pending' })
  const completed = fake.settleCapture(captureId, 'completed')
  t.match(readBody(completed), { ...expected('succeeded'), status: 'completed' })
})

t.test('PayPal: a denied capture has a failure code', async (t) => {
  const { fake, paypal, ref } = await withApproved(t)
  fake.nextCaptures('pending')
  const { report } = await capture(paypal, ref, 'c1')
  const denied = readBody(fake.settleCapture(report.provider_payment_id ?? '', 'denied'))
  t.match(denied, {
    generic_type: 'payment_intent.failed',
    status: 'declined',
    report: { status: 'failed', failure_code: 'capture_declined', provider_intent_id: ref.provider_intent_id },
  })
  const declined = readEvent('PAYMENT.CAPTURE.DECLINED', { id: 'C1', status_details: { reason: 'ECHECK' } })
  t.match(declined.report, { status: 'failed', failure_code: 'echeck', failure_message: /^PayPal could not/ })
})

t.test('PayPal: an authorization is processing with something capturable, or canceled when voided', (t) => {
  const resource = { id: 'A1', supplementary_data: { related_ids: { order_id: 'O1' } }, custom_id: payment_id }
  const expected = { about: 'status', provider_intent_id: 'O1', provider_payment_id: null }
  const created = readEvent('PAYMENT.AUTHORIZATION.CREATED', resource).report
  t.match(created, { ...expected, status: 'processing', capturable_cents: undefined })
  const amount = { currency_code: 'EUR', value: '19.99' }
  const capturable = (status?: string) =>
    readEvent('PAYMENT.AUTHORIZATION.CREATED', { ...resource, amount, status }).report
  for (const status of [undefined, 'CREATED']) t.match(capturable(status), { ...expected, capturable_cents: 1999 })
  t.match(capturable('PENDING'), { ...expected, status: 'processing', capturable_cents: undefined }, 'under review')
  t.match(readEvent('PAYMENT.AUTHORIZATION.VOIDED', resource).report, { ...expected, status: 'canceled' })
  t.equal(readEvent('PAYMENT.AUTHORIZATION.EXPIRED', resource).report, null)
  t.end()
})

t.test('PayPal: a success with an unreadable amount has no report', (t) => {
  const unreadable = [
    undefined,
    null,
    {},
    { value: '1.00' },
    { currency_code: 'EUR' },
    { currency_code: 'EUR', value: '1.005' },
    { currency_code: 'eur', value: '1' },
  ]
  const about = { id: 'C1', custom_id: payment_id, supplementary_data: { related_ids: { order_id: 'O1' } } }
  for (const type of ['PAYMENT.CAPTURE.COMPLETED', 'payment_intent.succeeded'])
    for (const amount of unreadable)
      t.match(readEvent(type, { ...about, amount }), {
        generic_type: 'payment_intent.succeeded',
        amount_cents: null,
        referenced_payment_id: payment_id,
        report: null,
      })
  t.match(
    readEvent('PAYMENT.CAPTURE.PENDING', about).report,
    { status: 'processing', amount_cents: null },
    'not a success',
  )
  t.end()
})

t.test('PayPal: order events refer to the payment, and only approved and voided ones report a status', async (t) => {
  const { fake, paypal, ref } = await withApproved(t)
  const order = { id: ref.provider_intent_id, purchase_units: [{ custom_id: payment_id }] }
  const expected = { provider_intent_id: order.id, provider_payment_id: null }
  for (const name of ['CREATED', 'SAVED', 'PAYER-ACTION-REQUIRED', 'COMPLETED', 'SOMETHING-NEW'])
    for (const status of ['CREATED', 'COMPLETED', 'VOIDED', undefined])
      t.match(
        readEvent(`CHECKOUT.ORDER.${name}`, { ...order, status }, 'checkout-order'),
        { referenced_payment_id: payment_id, report: { about: 'object', ...expected } },
        `${name} ${status}`,
      )
  t.match(readEvent('CHECKOUT.ORDER.VOIDED', { ...order, status: 'VOIDED' }).report, {
    ...expected,
    status: 'canceled',
  })
  await capture(paypal, ref, 'c1')
  const completed = fake.events.find(({ event_type }) => event_type === 'CHECKOUT.ORDER.COMPLETED')
  const { id: provider_event_id, body } = completed ?? { id: '', body: '' }
  const notification = readBody({ body })
  t.match(notification, { generic_type: null, amount_cents: 1999, currency: 'EUR' })
  t.same(notification.report, {
    about: 'object',
    ...expected,
    provider_event_id,
    provider_time: notification.occurred_at,
  })
  const captured = JSON.parse(body).resource
  t.match(readEvent('CHECKOUT.ORDER.APPROVED', captured).report, { ...expected, status: 'processing' })
})

t.test('PayPal: a capture without its order id is matched by its link, or by payment and capture id', (t) => {
  const denied = {
    id: 'C1',
    status: 'DECLINED',
    amount: { currency_code: 'EUR', value: '19.99' },
    custom_id: payment_id,
  }
  const up = { rel: 'up', href: 'https://api.paypal.com/v2/checkout/orders/5AB00000CD1111111' }
  const self = { rel: 'self', href: 'https://api.paypal.com/v2/payments/captures/C1' }
  const expected = { referenced_payment_id: payment_id, report: { status: 'failed', provider_payment_id: 'C1' } }
  t.match(readEvent('PAYMENT.CAPTURE.DENIED', { ...denied, links: [self, up] }, 'capture'), {
    ...expected,
    report: { ...expected.report, provider_intent_id: '5AB00000CD1111111' },
  })
  const authorization = { rel: 'up', href: 'https://api.paypal.com/v2/payments/authorizations/A1' }
  for (const links of [undefined, [], [self]])
    t.match(readEvent('PAYMENT.CAPTURE.DENIED', { ...denied, links }, 'capture'), {
      ...expected,
      report: { ...expected.report, provider_intent_id: null },
    })
  t.match(
    readEvent('PAYMENT.CAPTURE.DENIED', { ...denied, links: [self, authorization] }, 'capture'),
    { referenced_payment_id: payment_id, report: { about: 'object', provider_payment_id: 'C1' } },
    'the money is still authorized',
  )
  t.end()
})

t.test('PayPal: a generic event is about the order that it names, or that is its object [6.1-wallet-generic]', (t) => {
  const amount = { currency_code: 'EUR', value: '19.99' }
  const related = { supplementary_data: { related_ids: { order_id: 'O9' } } }
  const statuses = { requires_action: 'pending', processing: 'processing', succeeded: 'succeeded' }
  for (const [name, status] of Object.entries(statuses)) {
    const expected = { about: 'status', status, provider_payment_id: null, amount_cents: 1999, currency: 'EUR' }
    const type = `payment_intent.${name}`
    t.match(readEvent(type, { id: 'O1', amount }), {
      generic_type: type,
      report: { ...expected, provider_intent_id: 'O1' },
    })
    t.match(readEvent(type, { id: 'C1', amount, ...related }).report, { ...expected, provider_intent_id: 'O9' })
  }
  const created = { about: 'object', provider_intent_id: 'O1', provider_payment_id: null }
  t.match(readEvent('payment_intent.created', { id: 'O1' }).report, created)
  t.match(readEvent('payment_intent.failed', { id: 'O1' }).report, { failure_code: 'capture_declined' })
  t.end()
})
