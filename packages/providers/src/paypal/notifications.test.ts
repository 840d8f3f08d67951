// Reading PayPal's notifications: types, amounts, subscriptions, and invalid bodies.
import t from 'tap'
import { sharedFactOf } from '../sharedFact.ts'
import { payment_id } from '../testing/requests.ts'
import { readNotification } from './notifications.ts'
import { readEvent } from './testing/paypalHarness.ts'

const createTime = '2026-09-01T10:00:00.123Z'
const bodyOf = (more: object) =>
  Buffer.from(JSON.stringify({ id: 'WH-1', event_type: 'X.Y', create_time: createTime, resource: {}, ...more }))

t.test('PayPal: exactly the listed event types have a generic type', (t) => {
  const table: Readonly<Record<string, string | null>> = {
    'CHECKOUT.ORDER.CREATED': 'payment_intent.created',
    'PAYMENT.CAPTURE.COMPLETED': 'payment_intent.succeeded',
    'CHECKOUT.ORDER.COMPLETED': null,
    'PAYMENT.CAPTURE.DENIED': 'payment_intent.failed',
    'PAYMENT.CAPTURE.DECLINED': 'payment_intent.failed',
    'PAYMENT.AUTHORIZATION.VOIDED': 'payment_intent.canceled',
    'CHECKOUT.PAYMENT-APPROVAL.REVERSED': 'payment_intent.canceled',
    'PAYMENT.CAPTURE.PENDING': 'payment_intent.processing',
    'PAYMENT.AUTHORIZATION.CREATED': 'payment_intent.processing',
    'CHECKOUT.ORDER.APPROVED': 'payment_intent.processing',
    'VAULT.PAYMENT-TOKEN.CREATED': 'payment_method.attached',
    'VAULT.PAYMENT-TOKEN.DELETED': 'payment_method.detached',
    'BILLING.SUBSCRIPTION.CREATED': 'subscription.created',
    'BILLING.SUBSCRIPTION.ACTIVATED': 'subscription.updated',
    'BILLING.SUBSCRIPTION.UPDATED': 'subscription.updated',
    'BILLING.SUBSCRIPTION.SUSPENDED': 'subscription.updated',
    'BILLING.SUBSCRIPTION.RE-ACTIVATED': 'subscription.updated',
    'BILLING.SUBSCRIPTION.CANCELLED': 'subscription.deleted',
    'BILLING.SUBSCRIPTION.EXPIRED': 'subscription.deleted',
    'BILLING.SUBSCRIPTION.PAYMENT.FAILED': 'invoice.payment_failed',
    'PAYMENT.CAPTURE.REFUNDED': null,
    'PAYMENT.CAPTURE.REVERSED': null,
    'CUSTOMER.DISPUTE.CREATED': null,
    'CUSTOMER.DISPUTE.UPDATED': null,
    'CUSTOMER.DISPUTE.RESOLVED': null,
    'CUSTOMER.MERCHANT-INTEGRATION.CAPABILITY-UPDATED': null,
    'PAYMENT.SALE.COMPLETED': null,
    'SOMETHING.NEW': null,
    constructor: null,
  }
  for (const [type, generic_type] of Object.entries(table))
    t.match(readEvent(type, { id: 'R1' }), { provider_type: type, generic_type, object_id: 'R1' }, type)
  t.equal(
    readEvent('PAYMENT.SALE.COMPLETED', { billing_agreement_id: 'I-1' }).generic_type,
    'invoice.payment_succeeded',
  )
  t.end()
})

t.test('PayPal: an event with a generic type keeps that type', (t) => {
  const facts = { current_period_end: null, status_changed: false, is_first_invoice: false }
  const rows = [
    ['payment_method.detached', null],
    ['subscription.trial_will_end', { ...facts, subscription_id: 'R1' }],
    ['invoice.payment_failed', null],
    ['customer.created', null],
  ] as const
  for (const [type, subscription] of rows)
    t.match(readEvent(type, { id: 'R1' }), { generic_type: type, object_id: 'R1', report: null, subscription }, type)
  t.end()
})

t.test('PayPal: an event of the generic shape is read as generic unless it has PayPal’s own members', (t) => {
  const neutral = {
    id: 'evt_1',
    type: 'payment_intent.failed',
    provider: 'paypal',
    created: 1_788_256_800,
    data: { object: { id: 'O1', amount: 1500, currency: 'huf', status: 'failed', customer: 'P1' } },
  }
  const asBody = (event: object) => Buffer.from(JSON.stringify(event))
  t.match(readNotification(asBody(neutral)), {
    provider_event_id: 'evt_1',
    provider_type: 'payment_intent.failed',
    generic_type: 'payment_intent.failed',
    occurred_at: '2026-09-01T10:00:00.000Z',
    object_id: 'O1',
    amount_cents: 1500,
    currency: 'HUF',
    customer_id: 'P1',
    report: { status: 'failed', failure_code: 'capture_declined', provider_intent_id: 'O1', amount_cents: 1500 },
  })
  const succeeded = readNotification(asBody({ ...neutral, type: 'payment_intent.succeeded' }))
  t.match(succeeded.report, { status: 'succeeded', provider_payment_id: null })
  const native = { event_type: 'PAYMENT.CAPTURE.PENDING', create_time: createTime, resource: { id: 'C1' } }
  t.match(readNotification(asBody({ ...neutral, ...native })), { provider_type: native.event_type, object_id: 'C1' })
  t.end()
})

t.test('PayPal: notification amounts are converted to minor units', (t) => {
  const cents = (currency_code: string, value: string) =>
    readEvent('X.Y', { amount: { currency_code, value } }).amount_cents
  t.equal(cents('HUF', '1500'), 150_000)
  t.equal(cents('JPY', '1500'), 1500)
  t.equal(cents('TWD', '15'), 1500)
  t.equal(cents('KWD', '1.500'), 1500)
  t.match(readEvent('X.Y', { amount: { currency: 'USD', total: '5.00' } }), { amount_cents: 500, currency: 'USD' })
  t.end()
})

t.test('PayPal: a sale is an invoice payment of the subscription it names', (t) => {
  const sale = { id: 'S1', amount: { total: '5.00', currency: 'USD' }, custom: '17', state: 'completed' }
  t.match(readEvent('PAYMENT.SALE.COMPLETED', { ...sale, billing_agreement_id: 'I-E8W6NNUG630J' }, 'sale'), {
    generic_type: 'invoice.payment_succeeded',
    object_id: 'S1',
    amount_cents: 500,
    currency: 'USD',
    status: 'completed',
    referenced_payment_id: null,
    report: null,
    subscription: {
      subscription_id: 'I-E8W6NNUG630J',
      current_period_end: null,
      status_changed: false,
      is_first_invoice: false,
    },
  })
  t.match(readEvent('PAYMENT.SALE.COMPLETED', sale, 'sale'), { generic_type: null, report: null, subscription: null })
  t.end()
})

t.test('PayPal: a subscription notification has status, payer and period end', (t) => {
  const subscription = {
    id: 'I-1E2LTB0J1YGW',
    plan_id: 'P-53G7',
    status: 'ACTIVE',
    subscriber: { payer_id: 'QYR5Z8XDVJNXQ', email_address: 'pat@example.com' },
    billing_info: { next_billing_time: '2026-10-01T10:00:00+02:00', failed_payments_count: 0 },
  }
  const types = ['CREATED', 'ACTIVATED', 'UPDATED', 'SUSPENDED', 'RE-ACTIVATED', 'CANCELLED', 'EXPIRED']
  const changed = new Set(['ACTIVATED', 'RE-ACTIVATED', 'SUSPENDED'])
  for (const type of types)
    t.match(
      readEvent(`BILLING.SUBSCRIPTION.${type}`, subscription, 'subscription'),
      {
        object_id: 'I-1E2LTB0J1YGW',
        status: 'active',
        customer_id: 'QYR5Z8XDVJNXQ',
        customer_email: 'pat@example.com',
        amount_cents: null,
        report: null,
        subscription: {
          subscription_id: 'I-1E2LTB0J1YGW',
          current_period_end: '2026-10-01T08:00:00.000Z',
          status_changed: changed.has(type),
          is_first_invoice: false,
        },
      },
      type,
    )
  const billing_info = { last_failed_payment: { amount: { currency_code: 'USD', value: '5.00' } } }
  t.match(readEvent('BILLING.SUBSCRIPTION.PAYMENT.FAILED', { ...subscription, billing_info }), {
    amount_cents: 500,
    currency: 'USD',
    subscription: { current_period_end: null, status_changed: false },
  })
  t.end()
})

t.test('PayPal: the end of a subscription is shared by the events that report it', (t) => {
  const factOf = (what: string, status: string) =>
    sharedFactOf(readEvent(`BILLING.SUBSCRIPTION.${what}`, { id: 'I-1', status }))
  const end = { kind: 'ended_subscription', id: 'I-1' } as const
  for (const [what, status] of ['UPDATED CANCELLED', 'UPDATED EXPIRED', 'CANCELLED CANCELLED', 'EXPIRED EXPIRED'].map(
    (row) => row.split(' '),
  ))
    t.strictSame(factOf(what ?? '', status ?? ''), end, `${what} ${status}`)
  for (const status of ['ACTIVE', 'SUSPENDED', 'APPROVAL_PENDING']) t.equal(factOf('UPDATED', status), null, status)
  const sale = readEvent('PAYMENT.SALE.COMPLETED', { id: 'S1', billing_agreement_id: 'I-1' }, 'sale')
  t.strictSame(sharedFactOf(sale), { kind: 'paid_invoice', id: 'S1' })
  t.end()
})

t.test('PayPal: a saved method notification has its customer', (t) => {
  const resource = {
    id: '8kk8451t',
    time_created: '2026-09-01T03:00:00.000PDT',
    customer: { id: 'customer_40293' },
    payment_source: { paypal: { email_address: 'pat@example.com' } },
  }
  t.match(readEvent('VAULT.PAYMENT-TOKEN.CREATED', resource, 'payment_token'), {
    object_id: '8kk8451t',
    customer_id: 'customer_40293',
    report: null,
    subscription: null,
  })
  t.end()
})

t.test('PayPal: only a UUID in custom_id is read as a payment id', (t) => {
  for (const custom_id of ['17', '', null, {}, `${payment_id}x`, 'x'.repeat(500)])
    t.equal(readEvent('PAYMENT.CAPTURE.COMPLETED', { id: 'C1', custom_id }).referenced_payment_id, null)
  t.end()
})

t.test('PayPal: a notification with an unexpected object is accepted', (t) => {
  const odd = [
    undefined,
    null,
    'text',
    17,
    [],
    { id: 17, amount: 'much', links: [null, 5] },
    { id: 'a\u0000b', status: {} },
  ]
  const types = [
    'PAYMENT.CAPTURE.COMPLETED',
    'PAYMENT.CAPTURE.REFUNDED',
    'CUSTOMER.DISPUTE.CREATED',
    'CHECKOUT.ORDER.APPROVED',
  ]
  for (const resource of odd)
    for (const type of types) {
      const notification = readNotification(bodyOf({ event_type: type, resource }))
      t.match(notification, { object_id: null, amount_cents: null, status: null, referenced_payment_id: null })
    }
  t.end()
})

t.test('PayPal: a body that is not a notification is an invalid request', (t) => {
  t.equal(readNotification(bodyOf({})).provider_event_id, 'WH-1')
  const bodies = [
    Buffer.from(''),
    Buffer.from('[]'),
    Buffer.from('{"id":'),
    bodyOf({ id: undefined }),
    bodyOf({ id: 17 }),
    bodyOf({ id: 'a\u0007' }),
    bodyOf({ id: '' }),
    bodyOf({ event_type: 'x'.repeat(201) }),
  ]
  for (const body of bodies)
    t.throws(() => readNotification(body), { name: 'DomainError', code: 'invalid_request' }, body.toString())
  t.end()
})

t.test('PayPal: notification times are converted to UTC', (t) => {
  const occurredAt = (create_time: string) => readNotification(bodyOf({ create_time })).occurred_at
  t.equal(occurredAt('2026-09-01T03:00:00-07:00'), '2026-09-01T10:00:00.000Z')
  t.equal(occurredAt(createTime), createTime)
  t.end()
})
