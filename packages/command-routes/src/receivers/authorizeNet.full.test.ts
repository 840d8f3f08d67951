// Authorize.Net's notifications as it signs and sends them. They contain little, so we query the gateway for the rest.

import { matchList } from '@paylog/testing/assertions'
import type { FakeEvent } from '@paylog/testing/authorize-net/notifications'
import { applyStoredNotification } from '@paylog/workflows/notifications'
import t from 'tap'
import { authorizeNetHarness, type OpenedPayment, ordersOf, reformatted } from '../testing/receiverHarness.ts'

const gateway = await authorizeNetHarness(t)
const { fake, oldKey, open, send, deliver, notificationOf, pay } = gateway
const { historyOf, inboxOf, lastPosition, reconcile, assertSettlesAs: settlesAs, logged, workflow } = gateway
const ok = [200, undefined] as const
const fail = (name: string): never => {
  throw new Error(`missing ${name}`)
}

t.beforeEach(() => {
  fake.readFaults.always(undefined)
  logged.length = 0
})

t.test('an Authorize.Net notification is applied with either key during a rotation', async (t) => {
  const payment = await open()
  const { event, transId } = pay(payment)
  t.same(await send(fake.signed(event)), ok)
  const [received, applied] = await inboxOf(event.notificationId)
  t.match(received?.data, { body: event.body, provider_type: 'net.authorize.payment.authcapture.created' })
  t.match(applied, { type: 'ProviderEventApplied', data: { payment_id: payment.id, amount_cents: 2599 } })
  t.same(await historyOf(payment.id), ['PaymentSucceeded'])
  t.same(
    await send(
      fake.signed(
        notificationOf(() => fake.refund(transId)),
        { key: oldKey },
      ),
    ),
    ok,
  )
  t.same(await historyOf(payment.id), ['PaymentSucceeded', 'RefundRecorded'])
})

t.test(
  'an Authorize.Net notification with a wrong signature is rejected and not stored [6.1-gateway-checked]',
  async (t) => {
    const { event, transId } = pay(await open())
    const other = pay(await open()).event
    // The gateway writes 5.0, which becomes 5 when reserialized.
    const refund = notificationOf(() => fake.refund(transId, 500))
    const before = await lastPosition()
    const good = fake.signed(event)
    const header = (value: string) => ({ ...good, headers: { ...good.headers, 'x-anet-signature': value } })
    const signature = good.headers['x-anet-signature'] ?? fail('signature')
    const bad = {
      forged: fake.signed(event, { key: 'A'.repeat(128) }),
      'with the key in lower case': fake.signed(event, { key: fake.signatureKey.toLowerCase() }),
      'signed for another body': { ...fake.signed(other), body: good.body },
      rewritten: reformatted(fake.signed(refund)),
      'with a byte order mark': { ...good, body: `\ufeff${good.body}` },
      truncated: header(signature.slice(0, -1)),
      'without its scheme': header(signature.replace('sha512=', '')),
      unsigned: { body: good.body, headers: { 'content-type': 'application/json' } },
    }
    for (const [name, notification] of Object.entries(bad))
      t.same(await send(notification), [400, 'invalid_signature'], name)
    for (const body of ['no json', '[]', '{}'])
      t.same(await send(fake.signed({ body })), [400, 'invalid_request'], body)
    t.equal(await lastPosition(), before)
    t.same(await send(header(signature.toLowerCase())), ok, 'hex digits are case-insensitive')
  },
)

t.test(
  '24 concurrent copies of an Authorize.Net notification apply once, and a copy years later changes nothing',
  async (t) => {
    const payment = await open()
    const { event } = pay(payment)
    const responses = await Promise.all(Array.from({ length: 24 }, () => send(fake.signed(event))))
    t.same([...new Set(responses.map(([status]) => status))], [200])
    gateway.time.now = () => new Date(Date.now() + 5 * 365 * 24 * 60 * 60 * 1000)
    await deliver(event)
    gateway.time.now = () => new Date()
    t.same(await historyOf(payment.id), ['PaymentSucceeded'])
    t.equal((await inboxOf(event.notificationId)).length, 2)
  },
)

t.test('an Authorize.Net notification is stored while the gateway cannot be queried, and applied later', async (t) => {
  const payment = await open()
  const { event } = pay(payment)
  for (const fault of [
    { kind: 'status', status: 503, commits: false },
    { kind: 'garbage', commits: false },
    { kind: 'hang', commits: false },
  ] as const) {
    fake.readFaults.always(fault)
    t.same(await send(fake.signed(event)), ok, fault.kind)
  }
  t.equal(logged.length, 3)
  t.notMatch(logged.join(), event.body.slice(0, 40))
  t.notMatch(logged.join(), fake.transactionKey)
  t.same(
    (await inboxOf(event.notificationId)).map(({ type }) => type),
    ['ProviderEventReceived'],
  )
  t.same(await historyOf(payment.id), [])
  fake.readFaults.always(undefined)
  await applyStoredNotification(workflow, `providerEvent-authorize-net:${event.notificationId}`)
  t.same(await historyOf(payment.id), ['PaymentSucceeded'])
})

t.test('a payment that is voided after it succeeded stays succeeded, and the void is a refund', async (t) => {
  const payment = await open()
  const { event, transId } = pay(payment)
  await deliver(event)
  await deliver(notificationOf(() => fake.voidTransaction(transId)))
  t.same(await historyOf(payment.id), ['PaymentSucceeded', 'RefundRecorded'])
  t.match(await reconcile(payment.id), {
    finding: 'same',
    payment: {
      status: 'succeeded',
      refunds: [
        { amount_cents: 2599, status: 'succeeded', reason: 'other', note: 'voided', provider_refund_id: transId },
      ],
    },
  })
  t.same(await historyOf(payment.id), ['PaymentSucceeded', 'RefundRecorded'])
})

t.test('an Authorize.Net decline sends no notification and is found by reconciliation', async (t) => {
  const payment = await open()
  fake.pay({ token: payment.secret }, { outcome: 'declined' })
  t.same(
    fake.events.filter(({ body }) => body.includes(payment.intent)),
    [],
  )
  t.match(await reconcile(payment.id), { finding: 'late', payment: { status: 'failed' } })
  await deliver(pay(payment).event)
  t.match(await reconcile(payment.id), { finding: 'same', payment: { status: 'succeeded' } })
  t.same(await historyOf(payment.id), ['PaymentAttemptFailed', 'PaymentSucceeded'])
})

t.test('an Authorize.Net refund that names only the charge finds the payment', async (t) => {
  const payment = await open()
  const { event, transId } = pay(payment)
  await deliver(event)
  fake.settle()
  await deliver(notificationOf(() => fake.refund(transId, 500)))
  const [paid, refund] = (await gateway.store.readStream(`payment-${payment.id}`)).slice(2)
  t.equal(paid?.type, 'PaymentSucceeded')
  t.match(refund, { type: 'RefundRecorded', data: { refund_cents: 500, provider_payment_id: transId } })
})

t.test('an Authorize.Net charge with another amount is not a success', async (t) => {
  const payment = await open()
  const event = notificationOf(() => fake.pay({ invoiceNumber: payment.intent, amount_cents: 2598 }))
  await deliver(event)
  t.same(await historyOf(payment.id), ['PaymentAmountMismatch'])
  t.match(await reconcile(payment.id), { finding: 'amount_differs', payment: { status: 'pending' } })
})

const minuteMs = 60_000
/** Runs an action with the gateway's clock set back. */
function ago(ms: number, act: () => FakeEvent): FakeEvent {
  fake.advance(-ms)
  const event = act()
  fake.advance(ms)
  return event
}
const notificationOfUnknown = () =>
  fake.notify('payment.authcapture.created', { entityName: 'transaction', id: '999', responseCode: 1 })

t.test('a notification of a transaction that the gateway does not report yet is stored and not applied', async (t) => {
  const event = ago(14 * minuteMs, notificationOfUnknown)
  t.same(await send(fake.signed(event)), ok)
  const types = async () => (await inboxOf(event.notificationId)).map(({ type }) => type)
  t.same(await types(), ['ProviderEventReceived'])
  const settle = () => applyStoredNotification(workflow, `providerEvent-authorize-net:${event.notificationId}`)
  await t.rejects(settle(), { code: 'not_reported_yet' })
  t.same(await types(), ['ProviderEventReceived'])
})

t.test('error texts of the gateway are not logged', async (t) => {
  const { event } = pay(await open())
  fake.failNext('E00104', { method: 'getTransactionDetails', text: 'Text about jane@example.com' })
  t.same(await send(fake.signed(event)), ok)
  t.match(logged.join(), 'E00104')
  t.notMatch(logged.join(), 'jane')
  t.notMatch(logged.join(), 'resultCode')
})

t.test('voiding one attempt does not cancel a payment that another attempt has paid', async (t) => {
  const payment = await open()
  const { event: held, transId } = pay(payment, 'held')
  await deliver(held)
  const paid = notificationOf(() => fake.pay({ token: payment.secret }, { card: 'card-2' }))
  await deliver(
    notificationOf(() => fake.voidTransaction(transId)),
    paid,
  )
  t.same(await historyOf(payment.id), ['PaymentProcessingStarted', 'PaymentSucceeded'])
  t.match(await reconcile(payment.id), { finding: 'same', payment: { status: 'succeeded' } })
})

t.test('an unmatched Authorize.Net notification is recorded with its fields', async (t) => {
  const subscription = {
    name: 'Example',
    amount: 11.55,
    status: 'suspended',
    profile: { customerProfileId: 1811467160, customerPaymentProfileId: 1806025108 },
    entityName: 'subscription',
    id: '4415473',
  }
  const profile = { entityName: 'customerProfile', id: '394', merchantCustomerId: 'cust457' }
  const rows: readonly [FakeEvent, object][] = [
    [
      notificationOf(() => fake.pay({ invoiceNumber: 'theirs-1', amount_cents: 900 })),
      { generic_type: 'payment_intent.succeeded', amount_cents: 900 },
    ],
    [
      notificationOf(() =>
        fake.pay({ invoiceNumber: null, amount_cents: 1155 }, { subscription: { id: 4415473, payNum: 1 } }),
      ),
      {
        generic_type: 'invoice.payment_succeeded',
        amount_cents: 1155,
        subscription: { subscription_id: '4415473', is_first_invoice: true },
      },
    ],
    [
      fake.notify('customer.subscription.suspended', subscription),
      {
        generic_type: 'subscription.updated',
        customer_id: '1811467160',
        subscription: { subscription_id: '4415473', status_changed: true },
      },
    ],
    [fake.notify('customer.created', profile), { generic_type: 'customer.created', object_id: '394' }],
    [fake.notify('something.new', { id: 'x' }), { generic_type: null, object_id: 'x' }],
    [ago(15 * minuteMs, notificationOfUnknown), { object_id: '999', generic_type: 'payment_intent.succeeded' }],
  ]
  for (const [event, data] of rows) {
    await deliver(event)
    matchList(
      t,
      await inboxOf(event.notificationId),
      [{ type: 'ProviderEventReceived' }, { type: 'ProviderEventUnmatched', data }],
      event.eventType,
    )
  }
})

/** The notifications of one payment each, and its final status. */
const scenarios = {
  'held, released and refunded in two parts': {
    status: 'succeeded',
    facts: { PaymentSucceeded: 1, RefundRecorded: 2 },
    play(payment: OpenedPayment) {
      const { event, transId } = pay(payment, 'held')
      return [
        event,
        notificationOf(() => fake.approveHeld(transId)),
        notificationOf(() => fake.refund(transId, 1000)),
        notificationOf(() => fake.refund(transId, 1599)),
      ]
    },
  },
  'held and declined': {
    status: 'failed',
    facts: { PaymentAttemptFailed: 1 },
    play(payment: OpenedPayment) {
      const { event, transId } = pay(payment, 'held')
      return [event, notificationOf(() => fake.declineHeld(transId))]
    },
  },
}
for (const [name, { status, facts, play }] of Object.entries(scenarios))
  t.test(`Authorize.Net notifications in any order (${name}) leave the payment ${status}`, async (t) => {
    const length = status === 'failed' ? 2 : 4
    for (const order of ordersOf(Array.from({ length }, (_, n) => n))) {
      const payment = await open()
      const events = play(payment)
      t.equal(events.length, length)
      const event = order.map((n) => events[n] ?? fail('event'))
      await deliver(...event)
      const types = event.map(({ eventType }) => eventType.replace('net.authorize.payment.', '')).join(', ')
      await settlesAs(t, payment.id, { status, facts, name: types })
    }
  })

t.test('a repeated older Authorize.Net notification does not change a paid payment', async (t) => {
  const payment = await open()
  const { event: held, transId } = pay(payment, 'held')
  await deliver(held)
  const released = notificationOf(() => fake.approveHeld(transId))
  await deliver(released, held)
  t.same(await historyOf(payment.id), ['PaymentProcessingStarted', 'PaymentSucceeded'])
  t.match(await reconcile(payment.id), { finding: 'same' })
})
