// Reading Authorize.Net's notifications, with every type of the tables.
import t from 'tap'
import { sharedFactOf } from '../sharedFact.ts'
import { readNotification } from './notifications.ts'

// Times without a zone are UTC, also where the process runs in another time zone.
process.env.TZ = 'America/Denver'

const envelope = {
  notificationId: '70295d62-d8fd-45a8-9f54-4b8f0f7c2a10',
  eventDate: '2017-04-15T21:13:43.2977159Z',
  webhookId: 'dd9e42e4-8f64-4a3b-9a34-3f6a7e3a2c11',
}
const read = (eventType: string, payload: unknown, more: object = {}) =>
  readNotification(
    Buffer.from(JSON.stringify({ ...envelope, eventType: `net.authorize.${eventType}`, payload, ...more })),
  )

const transaction = (responseCode: number) => ({
  responseCode,
  authCode: 'ODAY02',
  avsResponse: 'Y',
  authAmount: 7.25,
  entityName: 'transaction',
  id: '60022194830',
})

t.test('Authorize.Net: a transaction notification has the transaction id and the amount', async (t) => {
  const paid =
    '{"notificationId":"70295d62-d8fd-45a8-9f54-4b8f0f7c2a10","eventType":"net.authorize.payment.authcapture.created","eventDate":"2017-04-15T21:13:43.2977159Z","webhookId":"dd9e42e4","payload":{"responseCode":1,"authCode":"ODAY02","avsResponse":"Y","authAmount":19.990,"entityName":"transaction","id":"60022194830"}}'
  t.strictSame(readNotification(Buffer.from(paid)), {
    provider_event_id: '70295d62-d8fd-45a8-9f54-4b8f0f7c2a10',
    provider_type: 'net.authorize.payment.authcapture.created',
    generic_type: 'payment_intent.succeeded',
    occurred_at: '2017-04-15T21:13:43.297Z',
    object_id: '60022194830',
    amount_cents: 1999,
    currency: null,
    status: null,
    customer_id: null,
    customer_email: null,
    referenced_payment_id: null,
    report: null,
    subscription: null,
  })
})

t.test('Authorize.Net: the generic type of a transaction follows from event type and response code', async (t) => {
  const types = [
    ['payment.authcapture.created', 1, 'payment_intent.succeeded'],
    ['payment.capture.created', 1, 'payment_intent.succeeded'],
    ['payment.priorAuthCapture.created', 1, 'payment_intent.succeeded'],
    ['payment.fraud.approved', 1, 'payment_intent.succeeded'],
    ['payment.authcapture.created', 0, null],
    ['payment.authcapture.created', 4, 'payment_intent.processing'],
    ['payment.authorization.created', 1, 'payment_intent.processing'],
    ['payment.fraud.held', 4, 'payment_intent.processing'],
    ['payment.fraud.declined', 2, 'payment_intent.failed'],
    ['payment.fraud.declined', 1, 'payment_intent.failed'],
    ['payment.void.created', 1, 'payment_intent.canceled'],
    ['payment.refund.created', 1, null],
    ['payment.something.new', 1, null],
  ] as const
  for (const [eventType, code, generic] of types)
    t.equal(read(eventType, transaction(code)).generic_type, generic, `${eventType} ${code}`)
  const names = ['authcapture', 'capture', 'priorAuthCapture', 'authorization', 'fraud.approved', 'fraud.held', 'new']
  for (const name of names)
    for (const code of [2, 3])
      t.equal(
        read(`payment.${name}.created`, transaction(code)).generic_type,
        'payment_intent.failed',
        `${name} ${code}`,
      )
  for (const code of [1, 2, 3]) t.equal(read('payment.refund.created', transaction(code)).generic_type, null)
})

t.test('Authorize.Net: subscription notifications have generic type, status and subscription facts', async (t) => {
  const subscription = {
    name: 'Subscription Test 005',
    amount: 11.55,
    status: 'Active',
    profile: { customerProfileId: 1811467160, customerPaymentProfileId: 1806025108 },
    entityName: 'subscription',
    id: '4415473',
  }
  const types = {
    created: 'subscription.created',
    updated: 'subscription.updated',
    suspended: 'subscription.updated',
    cancelled: 'subscription.deleted',
    terminated: 'subscription.deleted',
    expired: 'subscription.deleted',
    expiring: 'subscription.trial_will_end',
    failed: 'invoice.payment_failed',
  }
  for (const [name, generic_type] of Object.entries(types))
    t.match(
      read(`customer.subscription.${name}`, subscription),
      {
        generic_type,
        object_id: '4415473',
        amount_cents: 1155,
        status: 'active',
        customer_id: '1811467160',
        report: null,
        subscription: {
          subscription_id: '4415473',
          current_period_end: null,
          status_changed: name === 'suspended',
          is_first_invoice: false,
        },
      },
      name,
    )
  const { status: _status, ...withoutStatus } = subscription
  t.equal(read('customer.subscription.suspended', withoutStatus).status, 'suspended', 'from the event type')
})

t.test('Authorize.Net: the end of a subscription is shared by the events that report it', async (t) => {
  const factOf = (what: string, status: string) =>
    sharedFactOf(read(`customer.subscription.${what}`, { status, entityName: 'subscription', id: '17' }))
  const end = { kind: 'ended_subscription', id: '17' } as const
  for (const status of ['canceled', 'terminated', 'expired']) t.strictSame(factOf('updated', status), end, status)
  for (const what of ['cancelled', 'terminated', 'expired']) t.strictSame(factOf(what, 'canceled'), end, what)
  for (const what of ['created', 'updated', 'suspended', 'expiring', 'failed'])
    t.equal(factOf(what, 'active'), null, what)
  const paid = (payNum: number) =>
    sharedFactOf(read('payment.authcapture.created', { ...transaction(1), subscription: { id: 17, payNum } }))
  t.strictSame(paid(2), { kind: 'paid_invoice', id: '60022194830' })
  t.equal(paid(1), null, 'the first one comes with the subscription')
})

t.test('Authorize.Net: customer and method notifications have generic type and customer', async (t) => {
  const customer = { merchantCustomerId: 'c1', entityName: 'customerProfile', id: '394' }
  for (const name of ['created', 'updated', 'deleted'])
    t.match(read(`customer.${name}`, customer), {
      generic_type: `customer.${name}`,
      object_id: '394',
      customer_id: '394',
      subscription: null,
    })
  const profile = { customerProfileId: 394, entityName: 'customerPaymentProfile', id: '694' }
  const types = { created: 'attached', updated: 'updated', deleted: 'detached' }
  for (const [name, generic] of Object.entries(types))
    t.match(read(`customer.paymentProfile.${name}`, profile), {
      generic_type: `payment_method.${generic}`,
      object_id: '694',
      customer_id: '394',
      subscription: null,
    })
})

const asBody = (event: object) => Buffer.from(JSON.stringify(event))

t.test('Authorize.Net: a notification with a generic type keeps that type [6.1-gateway-generic]', async (t) => {
  const named = (eventType: string, payload: unknown) => readNotification(asBody({ ...envelope, eventType, payload }))
  const facts = { current_period_end: null, status_changed: false, is_first_invoice: false }
  const rows = [
    ['payment_intent.succeeded', null],
    ['payment_method.attached', null],
    ['subscription.deleted', { ...facts, subscription_id: '17' }],
    ['invoice.payment_succeeded', null],
    ['customer.updated', null],
  ] as const
  for (const [type, subscription] of rows) {
    const expected = { provider_type: type, generic_type: type, object_id: '17', report: null, subscription }
    t.match(named(type, { id: 17 }), expected, type)
  }
})

t.test(
  'Authorize.Net: an event of the generic shape is read as generic unless it has the gateway’s own members',
  async (t) => {
    const object = { id: '7e6f8a9b0c1d2e3f4a5b', amount: 1999, currency: 'usd', status: 'failed', customer: 'c1' }
    const neutral = { id: 'evt_1', type: 'payment_intent.failed', created: 1_788_256_800, data: { object } }
    t.match(readNotification(asBody(neutral)), {
      provider_event_id: 'evt_1',
      provider_type: 'payment_intent.failed',
      generic_type: 'payment_intent.failed',
      occurred_at: '2026-09-01T10:00:00.000Z',
      amount_cents: 1999,
      currency: 'USD',
      report: {
        about: 'status',
        status: 'failed',
        failure_code: 'declined',
        provider_intent_id: object.id,
        amount_cents: 1999,
      },
    })
    const succeeded = readNotification(asBody({ ...neutral, type: 'payment_intent.succeeded' }))
    t.match(succeeded.report, { status: 'succeeded', provider_payment_id: null })
    const native = { ...envelope, eventType: 'net.authorize.customer.created', payload: { id: '394' } }
    t.match(readNotification(asBody({ ...neutral, ...native })), { generic_type: 'customer.created', object_id: '394' })
  },
)

t.test('Authorize.Net: a notification of an unknown type is accepted with any payload', async (t) => {
  for (const payload of [undefined, null, [], { id: { deep: true } }, 'text'])
    t.match(read('merchant.onboarded', payload), { generic_type: null, object_id: null, report: null })
  for (const name of ['payment.toString', 'payment.__proto__', 'payment.constructor'])
    t.equal(read(name, {}).generic_type, null, name)
})

t.test('Authorize.Net: eventDate is read with seven digits, with an offset, and without either', async (t) => {
  const dates = {
    '2017-08-18T20:40:52.7722007Z': '2017-08-18T20:40:52.772Z',
    '2017-02-09T19:18:42.167': '2017-02-09T19:18:42.167Z',
    '2017-02-09T19:18:42': '2017-02-09T19:18:42.000Z',
    '2026-01-30T20:17:44.2978909+05:30': '2026-01-30T14:47:44.297Z',
  }
  for (const [eventDate, occurred_at] of Object.entries(dates))
    t.equal(read('customer.created', { id: '1' }, { eventDate }).occurred_at, occurred_at)
})

t.test('Authorize.Net: a body that is not a notification is an invalid request', async (t) => {
  const malformed = { name: 'DomainError', code: 'invalid_request' }
  for (const body of ['', 'not json', '[]', '{}', 'null', '{"notificationId":"a"}'])
    t.throws(() => readNotification(Buffer.from(body)), malformed, body)
  const latin1 = { ...envelope, eventType: 'net.authorize.customer.created', payload: { id: '1', name: 'José' } }
  t.throws(() => readNotification(Buffer.from(JSON.stringify(latin1), 'latin1')), malformed, 'not UTF-8')
})
