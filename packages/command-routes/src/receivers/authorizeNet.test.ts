// Authorize.Net's notifications, as it signs and sends them. They say little, so the gateway is asked for the rest.

import { matchList } from '@paylog/testing/assertions'
import type { FakeEvent } from '@paylog/testing/authorize-net/notifications'
import { applyStoredNotification } from '@paylog/workflows/notifications'
import t from 'tap'
import { authorizeNetHarness, type OpenedPayment, ordersOf, reformatted } from '../testing/receiverHarness.ts'

const gateway = await authorizeNetHarness(t)
const { fake, oldKey, open, send, deliver, notificationOf, pay } = gateway
const { historyOf, inboxOf, lastPosition, reconcile, assertSettlesAs: settlesAs, logged, workflow } = gateway
const ok = [200, undefined] as const
const fail = (what: string): never => {
  throw new Error(`There is no ${what}`)
}

t.beforeEach(() => {
  fake.readFaults.always(undefined)
  logged.length = 0
})

t.test('what the gateway has signed counts, with either key during a rotation', async (t) => {
  const payment = await open()
  const { told, transId } = pay(payment)
  t.same(await send(fake.signed(told)), ok)
  const [received, applied] = await inboxOf(told.notificationId)
  t.match(received?.data, { body: told.body, provider_type: 'net.authorize.payment.authcapture.created' })
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
  t.same(await historyOf(payment.id), ['PaymentSucceeded', 'PaymentRefundRecorded'])
})

t.test('what it has not signed like this is refused, and nothing is kept of it [6.1-gateway-checked]', async (t) => {
  const { told, transId } = pay(await open())
  const other = pay(await open()).told
  // The gateway writes 5.0, which becomes 5 when it is written anew.
  const refund = notificationOf(() => fake.refund(transId, 500))
  const before = await lastPosition()
  const good = fake.signed(told)
  const header = (value: string) => ({ ...good, headers: { ...good.headers, 'x-anet-signature': value } })
  const signature = good.headers['x-anet-signature'] ?? fail('signature')
  const bad = {
    forged: fake.signed(told, { key: 'A'.repeat(128) }),
    'with the key in lower case': fake.signed(told, { key: fake.signatureKey.toLowerCase() }),
    'signed for another': { ...fake.signed(other), body: good.body },
    rewritten: reformatted(fake.signed(refund)),
    'with a byte order mark': { ...good, body: `\ufeff${good.body}` },
    truncated: header(signature.slice(0, -1)),
    'without its scheme': header(signature.replace('sha512=', '')),
    unsigned: { body: good.body, headers: { 'content-type': 'application/json' } },
  }
  for (const [name, notification] of Object.entries(bad))
    t.same(await send(notification), [400, 'invalid_signature'], name)
  for (const body of ['no json', '[]', '{}']) t.same(await send(fake.signed({ body })), [400, 'invalid_request'], body)
  t.equal(await lastPosition(), before)
  t.same(await send(header(signature.toLowerCase())), ok, 'the case of the digits says nothing')
})

t.test('the same notification two dozen times at once counts once, and years later still', async (t) => {
  const payment = await open()
  const { told } = pay(payment)
  const answers = await Promise.all(Array.from({ length: 24 }, () => send(fake.signed(told))))
  t.same([...new Set(answers.map(([status]) => status))], [200])
  gateway.time.now = () => new Date(Date.now() + 5 * 365 * 24 * 60 * 60 * 1000)
  await deliver(told)
  gateway.time.now = () => new Date()
  t.same(await historyOf(payment.id), ['PaymentSucceeded'])
  t.equal((await inboxOf(told.notificationId)).length, 2)
})

t.test('what the gateway will not tell now is kept and settled later', async (t) => {
  const payment = await open()
  const { told } = pay(payment)
  for (const fault of [
    { kind: 'status', status: 503, commits: false },
    { kind: 'garbage', commits: false },
    { kind: 'hang', commits: false },
  ] as const) {
    fake.readFaults.always(fault)
    t.same(await send(fake.signed(told)), ok, fault.kind)
  }
  t.equal(logged.length, 3)
  t.notMatch(logged.join(), told.body.slice(0, 40))
  t.notMatch(logged.join(), fake.transactionKey)
  t.same(
    (await inboxOf(told.notificationId)).map(({ type }) => type),
    ['ProviderEventReceived'],
  )
  t.same(await historyOf(payment.id), [])
  fake.readFaults.always(undefined)
  await applyStoredNotification(workflow, `providerEvent-authorize-net:${told.notificationId}`)
  t.same(await historyOf(payment.id), ['PaymentSucceeded'])
})

t.test('a payment that is voided after it succeeded stays succeeded, and the void is reported', async (t) => {
  const payment = await open()
  const { told, transId } = pay(payment)
  await deliver(told)
  await deliver(notificationOf(() => fake.voidTransaction(transId)))
  const history = await historyOf(payment.id)
  t.equal(history[0], 'PaymentSucceeded')
  t.same(history.slice(1), ['ProviderEventIgnored'])
  t.match(await reconcile(payment.id), { finding: 'conflict', payment: { status: 'succeeded' } })
})

t.test('a decline is told to nobody, and found by asking', async (t) => {
  const payment = await open()
  fake.pay({ token: payment.secret }, { outcome: 'declined' })
  t.same(
    fake.events.filter(({ body }) => body.includes(payment.intent)),
    [],
  )
  t.match(await reconcile(payment.id), { finding: 'late', payment: { status: 'failed' } })
  await deliver(pay(payment).told)
  t.match(await reconcile(payment.id), { finding: 'same', payment: { status: 'succeeded' } })
  t.same(await historyOf(payment.id), ['PaymentAttemptFailed', 'PaymentSucceeded'])
})

t.test('a refund that names the charge alone finds the payment', async (t) => {
  const payment = await open()
  const { told, transId } = pay(payment)
  await deliver(told)
  fake.settle()
  await deliver(notificationOf(() => fake.refund(transId, 500)))
  const [paid, refund] = (await gateway.store.readStream(`payment-${payment.id}`)).slice(2)
  t.equal(paid?.type, 'PaymentSucceeded')
  t.match(refund, { type: 'PaymentRefundRecorded', data: { refunded_cents: 500, provider_payment_id: transId } })
})

t.test('another amount is no success', async (t) => {
  const payment = await open()
  const told = notificationOf(() => fake.pay({ invoiceNumber: payment.intent, amount_cents: 2598 }))
  await deliver(told)
  t.same(await historyOf(payment.id), ['PaymentAmountMismatch'])
  t.match(await reconcile(payment.id), { finding: 'amount_differs', payment: { status: 'pending' } })
})

const minuteMs = 60_000
/** What the gateway did a while ago, by its clock. */
function ago(ms: number, act: () => FakeEvent): FakeEvent {
  fake.advance(-ms)
  const told = act()
  fake.advance(ms)
  return told
}
const notificationOfUnknown = () =>
  fake.notify('payment.authcapture.created', { entityName: 'transaction', id: '999', responseCode: 1 })

t.test('a transaction that the gateway does not report on yet is kept and not settled', async (t) => {
  const told = ago(14 * minuteMs, notificationOfUnknown)
  t.same(await send(fake.signed(told)), ok)
  const types = async () => (await inboxOf(told.notificationId)).map(({ type }) => type)
  t.same(await types(), ['ProviderEventReceived'])
  const settle = () => applyStoredNotification(workflow, `providerEvent-authorize-net:${told.notificationId}`)
  await t.rejects(settle(), { code: 'not_reported_yet' })
  t.same(await types(), ['ProviderEventReceived'])
})

t.test('nothing that the gateway says of its own is logged', async (t) => {
  const { told } = pay(await open())
  fake.failNext('E00104', { method: 'getTransactionDetails', text: 'Text about jane@example.com' })
  t.same(await send(fake.signed(told)), ok)
  t.match(logged.join(), 'E00104')
  t.notMatch(logged.join(), 'jane')
  t.notMatch(logged.join(), 'resultCode')
})

t.test('the void of one attempt does not cancel a payment that another one has paid', async (t) => {
  const payment = await open()
  const { told: held, transId } = pay(payment, 'held')
  await deliver(held)
  const paid = notificationOf(() => fake.pay({ token: payment.secret }, { card: 'card-2' }))
  await deliver(
    notificationOf(() => fake.voidTransaction(transId)),
    paid,
  )
  t.same(await historyOf(payment.id), ['PaymentProcessingStarted', 'PaymentSucceeded'])
  t.match(await reconcile(payment.id), { finding: 'same', payment: { status: 'succeeded' } })
})

t.test('what is about nothing of ours is kept with what it says', async (t) => {
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
  for (const [told, data] of rows) {
    await deliver(told)
    matchList(
      t,
      await inboxOf(told.notificationId),
      [{ type: 'ProviderEventReceived' }, { type: 'ProviderEventUnmatched', data }],
      told.eventType,
    )
  }
})

/** The notifications of one payment each, and what is true in the end. */
const scenarios = {
  'held, released and given back in two parts': {
    truth: 'succeeded',
    facts: { PaymentSucceeded: 1, PaymentRefundRecorded: 2 },
    play(payment: OpenedPayment) {
      const { told, transId } = pay(payment, 'held')
      return [
        told,
        notificationOf(() => fake.approveHeld(transId)),
        notificationOf(() => fake.refund(transId, 1000)),
        notificationOf(() => fake.refund(transId, 1599)),
      ]
    },
  },
  'held and refused': {
    truth: 'failed',
    facts: { PaymentAttemptFailed: 1 },
    play(payment: OpenedPayment) {
      const { told, transId } = pay(payment, 'held')
      return [told, notificationOf(() => fake.declineHeld(transId))]
    },
  },
}
for (const [name, { truth, facts, play }] of Object.entries(scenarios))
  t.test(`${name}: in any order the payment is ${truth} in the end`, async (t) => {
    const length = truth === 'failed' ? 2 : 4
    for (const order of ordersOf(Array.from({ length }, (_, n) => n))) {
      const payment = await open()
      const events = play(payment)
      t.equal(events.length, length)
      const told = order.map((n) => events[n] ?? fail('event'))
      await deliver(...told)
      const types = told.map(({ eventType }) => eventType.replace('net.authorize.payment.', '')).join(', ')
      await settlesAs(t, payment.id, { truth, facts, name: types })
    }
  })

t.test('told step by step, and the first step once more at the end, it is paid once', async (t) => {
  const payment = await open()
  const { told: held, transId } = pay(payment, 'held')
  await deliver(held)
  const released = notificationOf(() => fake.approveHeld(transId))
  await deliver(released, held)
  t.same(await historyOf(payment.id), ['PaymentProcessingStarted', 'PaymentSucceeded'])
  t.match(await reconcile(payment.id), { finding: 'same' })
})
