// Stripe's notifications as Stripe signs and sends them.
import { createHmac } from 'node:crypto'
import { matchList } from '@paylog/testing/assertions'
import { invoiceBody, subscriptionBody } from '@paylog/testing/stripe/billing'
import { startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import t from 'tap'
import { providerFromEnv } from '../testing/fakeProviders.ts'
import { ordersOf, receiverHarness, reformatted } from '../testing/receiverHarness.ts'

/** How far Stripe's clock is ahead of ours, so that successive events have increasing times. */
let aheadMs = 0
const fake = await startFakeStripe(t, { now: () => new Date(Date.now() + aheadMs) })
const rotated = 'whsec_next'
const provider = await providerFromEnv(t, {
  ...fake.env,
  STRIPE_WEBHOOK_SECRET: `${fake.webhookSecret},${rotated}`,
})
const receiver = await receiverHarness(t, provider)
const { open, send, historyOf, inboxOf, receivedBy, lastPosition, reconcile, assertSettlesAs: settlesAs } = receiver

t.beforeEach(() => {
  aheadMs = 0
})

type Outcome = Parameters<typeof fake.pay>[1]
type StripeEvent = ReturnType<typeof fake.pay>[number]
const signed = (event: object, at = new Date()) => fake.signed(event, { at })
const ofIntent = (events: readonly StripeEvent[]) => events.filter(({ type }) => type.startsWith('payment_intent.'))
/** Runs a payer's action. @returns Stripe's event about the intent */
const pay = (intent: string, outcome: Outcome) => ofIntent(fake.pay(intent, outcome))[0] ?? fail(outcome)
const fail = (name: string): never => {
  throw new Error(`no event for ${name}`)
}

t.test('a Stripe notification is applied with each valid signing secret [3-retry-success]', async (t) => {
  const { id, intent } = await open()
  const event = pay(intent, 'failed')
  t.same(await send(signed(event)), [200, undefined])
  t.same(await historyOf(id), ['PaymentAttemptFailed'])
  const [received] = await receivedBy(id, event.id)
  t.match(received?.data, { body: signed(event).body, provider_type: 'payment_intent.payment_failed' })
  t.match(received?.data, { payment_id: id, generic_type: 'payment_intent.failed' })
  const next = pay(intent, 'succeeded')
  t.same(await send(fake.signed(next, { secret: ['whsec_old', rotated] })), [200, undefined])
  t.same(await historyOf(id), ['PaymentAttemptFailed', 'PaymentSucceeded'])
})

t.test('a Stripe notification with a wrong signature is rejected and not stored [6.1-card-checked]', async (t) => {
  const { intent } = await open()
  const event = pay(intent, 'succeeded')
  const other = pay((await open()).intent, 'succeeded')
  const before = await lastPosition()
  const good = signed(event)
  const header = (value: string) => ({ ...good, headers: { ...good.headers, 'stripe-signature': value } })
  const bad = {
    forged: fake.signed(event, { secret: 'whsec_forged' }),
    'signed for another body': { ...signed(other), body: good.body },
    rewritten: reformatted(good),
    'with an extra space': { ...good, body: `${good.body} ` },
    'signed long ago': signed(event, new Date(Date.now() - 310_000)),
    'signed ahead of time': signed(event, new Date(Date.now() + 310_000)),
    'with an unsupported scheme': header(good.headers['stripe-signature']?.replaceAll('v1=', 'v0=') ?? ''),
    'with another time': header(good.headers['stripe-signature']?.replace(/t=\d+/, `t=${now() + 1}`) ?? ''),
    'without a time': header(good.headers['stripe-signature']?.replace(/t=\d+,/, '') ?? ''),
    unsigned: { body: good.body, headers: { 'content-type': 'application/json' } },
  }
  for (const [name, notification] of Object.entries(bad))
    t.same(await send(notification), [400, 'invalid_signature'], name)
  for (const body of [
    'no json',
    '[]',
    '{"id":"evt_1"}',
    '{"id":"evt_1","type":"payment_intent.succeeded","created":1}',
  ])
    t.same(await send(signedText(body)), [400, 'invalid_request'], body)
  t.equal(await lastPosition(), before)
  t.same(await send(good), [200, undefined])
})

const now = () => Math.floor(Date.now() / 1000)
/** Signs a text that is not an event. */
function signedText(body: string) {
  const mac = createHmac('sha256', fake.webhookSecret).update(`${now()}.${body}`).digest('hex')
  return { headers: { 'stripe-signature': `t=${now()},v1=${mac}` }, body }
}

t.test('24 concurrent copies of a Stripe notification apply once', async (t) => {
  const { id, intent } = await open()
  const event = pay(intent, 'failed')
  const responses = await Promise.all(Array.from({ length: 24 }, () => send(signed(event))))
  t.same([...new Set(responses.map(([status]) => status))], [200])
  t.same(await historyOf(id), ['PaymentAttemptFailed'])
  t.equal((await receivedBy(id, event.id)).length, 1)
  t.same(await inboxOf(event.id), [])
})

/** Four steps of a payer, the time between them, and the final status. */
const scenarios: readonly { readonly steps: readonly Outcome[]; readonly gapMs: number; readonly status: string }[] = [
  { steps: ['requires_action', 'failed', 'processing', 'succeeded'], gapMs: 1_000, status: 'succeeded' },
  { steps: ['failed', 'requires_action', 'processing', 'canceled'], gapMs: 1_000, status: 'canceled' },
  { steps: ['requires_action', 'processing', 'failed', 'failed'], gapMs: 0, status: 'failed' },
  { steps: ['failed', 'failed', 'requires_action', 'processing'], gapMs: 0, status: 'processing' },
  { steps: ['failed', 'failed', 'requires_action', 'processing'], gapMs: 1_000, status: 'processing' },
]
for (const { steps, gapMs, status } of scenarios)
  t.test(
    `Stripe notifications ${steps.join(', ')} in any order, ${gapMs} ms apart, leave the payment ${status}`,
    async (t) => {
      for (const order of ordersOf([0, 1, 2, 3])) {
        aheadMs = 0
        const { id, intent } = await open()
        const events = steps.map((outcome) => {
          aheadMs += gapMs
          return pay(intent, outcome)
        })
        for (const n of order) t.same(await send(signed(events[n] ?? fail('this step'))), [200, undefined])
        const final = { succeeded: 'PaymentSucceeded', canceled: 'PaymentCanceled' }[status]
        const name = order.map((n) => steps[n]).join(', ')
        await settlesAs(t, id, { status, facts: final ? { [final]: 1 } : {}, name })
      }
    },
  )

t.test('Stripe refunds and disputes are recorded without changing the status', async (t) => {
  const { id, intent } = await open()
  t.same(await send(signed(pay(intent, 'succeeded'))), [200, undefined])
  const sent = [...fake.refund(intent, 500), ...fake.dispute(intent)]
  for (const event of sent) t.same(await send(signed(event)), [200, undefined])
  t.same(await historyOf(id), ['PaymentSucceeded', 'RefundRecorded', 'PaymentDisputeRecorded'])
  const refund = sent.find(({ type }) => type === 'refund.created') ?? fail('the refund')
  t.match((await inboxOf(refund.id))[1], { type: 'ProviderEventApplied', data: { payment_id: id } })
  const { payment } = await reconcile(id)
  t.match(payment, { status: 'succeeded', refunds: [{ amount_cents: 500, status: 'succeeded' }] })
  t.match(payment.disputes, [{ status: 'open', provider_status: 'needs_response' }])
})

t.test('a Stripe refund that fails later is recorded as failed, in any order of its notifications', async (t) => {
  const { id, intent } = await open()
  t.same(await send(signed(pay(intent, 'succeeded'))), [200, undefined])
  const created = fake.refund(intent, 500)
  const failed = fake.changeRefund(fake.refundsOf(intent)[0]?.id ?? '', 'failed')
  for (const event of [...failed, ...created, ...failed]) t.same(await send(signed(event)), [200, undefined])
  t.match((await reconcile(id)).payment.refunds, [
    { amount_cents: 500, status: 'failed', failure_code: 'expired_or_canceled_card' },
  ])
})

t.test('a Stripe charge that only says how much was refunded has its refunds asked for', async (t) => {
  const { id, intent } = await open()
  t.same(await send(signed(pay(intent, 'succeeded'))), [200, undefined])
  const [, total] = fake.refund(intent, 500)
  const object = { ...(total ?? fail('the refund')).data.object, payment_intent: null, metadata: {} }
  const alone = fake.event('charge.refunded', object)
  t.same(await send(signed(alone)), [200, undefined])
  t.match((await inboxOf(alone.id))[1], { type: 'ProviderEventApplied', data: { payment_id: id } })
  t.same(await historyOf(id), ['PaymentSucceeded', 'ProviderEventIgnored'])
  t.match((await reconcile(id)).payment.refunds, [{ amount_cents: 500, status: 'succeeded' }])
})

t.test('thin Stripe notifications leave a payment as the snapshot ones do, in any order and beside them', async (t) => {
  const { id, intent } = await open()
  const snapshots = [...fake.pay(intent, 'failed'), ...fake.pay(intent, 'succeeded'), ...fake.refund(intent, 500)]
  const thin = snapshots.map((event) => fake.thin(event))
  for (const event of [...thin.toReversed(), ...thin]) t.same(await send(signed(event)), [200, undefined])
  const history = await historyOf(id)
  t.match((await reconcile(id)).payment, { status: 'succeeded', refunds: [{ amount_cents: 500, status: 'succeeded' }] })
  for (const event of snapshots) t.same(await send(signed(event)), [200, undefined])
  const facts = (await historyOf(id)).filter((type) => type !== 'ProviderEventIgnored')
  t.same(facts.toSorted(), ['PaymentSucceeded', 'RefundRecorded'])
  t.ok(history.includes('PaymentSucceeded'), 'before the payment was reconciled')
})

t.test('Stripe objects that do not name our payment, but its intent or charge, find it', async (t) => {
  const { id, intent } = await open()
  pay(intent, 'succeeded')
  const charge = fake.intent(intent).latest_charge
  const objects = {
    'review.opened': { id: 'prv_1', object: 'review', charge, payment_intent: intent },
    'refund.updated': {
      ...{ id: 're_1', object: 'refund', charge, payment_intent: null, metadata: {} },
      ...{ amount: 500, currency: 'usd', status: 'succeeded' },
    },
    'charge.captured': { id: charge, object: 'charge', payment_intent: intent, metadata: {} },
    'charge.dispute.created': { id: 'dp_1', object: 'dispute', charge, payment_intent: null, metadata: {} },
  }
  for (const [type, object] of Object.entries(objects)) {
    const event = fake.event(type, object)
    t.same(await send(signed(event)), [200, undefined])
    t.match((await inboxOf(event.id))[1], { type: 'ProviderEventApplied', data: { payment_id: id } }, type)
  }
  t.same(await historyOf(id), ['RefundRecorded', 'PaymentDisputeRecorded'])
})

t.test('a Stripe charge with another amount or currency is not a success', async (t) => {
  const { id, intent } = await open()
  const event = pay(intent, 'succeeded')
  const sent = (object: object) => fake.event(event.type, { ...event.data.object, ...object })
  for (const object of [{ amount_received: 2598 }, { amount_received: 0 }, { currency: 'eur' }])
    t.same(await send(signed(sent(object))), [200, undefined])
  t.same(await historyOf(id), ['PaymentAmountMismatch', 'PaymentAmountMismatch', 'PaymentAmountMismatch'])
  t.same(await send(signed(event)), [200, undefined])
  t.same((await historyOf(id)).at(-1), 'PaymentSucceeded')
})

t.test('an unmatched Stripe notification is recorded with its fields [6.1-recorded]', async (t) => {
  const foreign = fake.openIntent({ amount: 500, currency: 'eur' })
  const paid = ofIntent(fake.pay(foreign.id, 'succeeded'))
  const subscription = subscriptionBody({ status: 'active', customer: 'cus_1', current_period_end: 1_800_000_000 })
  const invoice = invoiceBody({
    subscription: subscription.id,
    customer: 'cus_1',
    billing_reason: 'subscription_create',
  })
  const events: readonly [StripeEvent, object][] = [
    [paid[0] ?? fail('pay'), { generic_type: 'payment_intent.succeeded', object_id: foreign.id, amount_cents: 500 }],
    [
      fake.event('customer.subscription.updated', subscription, { previous: { status: 'past_due' } }),
      {
        generic_type: 'subscription.updated',
        customer_id: 'cus_1',
        subscription: {
          subscription_id: subscription.id,
          current_period_end: new Date(1_800_000_000_000).toISOString(),
          status_changed: true,
        },
      },
    ],
    [
      fake.event('invoice.payment_succeeded', invoice),
      {
        generic_type: 'invoice.payment_succeeded',
        subscription: { subscription_id: subscription.id, is_first_invoice: true },
      },
    ],
    [
      fake.event('customer.created', { id: 'cus_2', object: 'customer', email: 'new@example.com' }),
      {
        generic_type: 'customer.created',
        object_id: 'cus_2',
        customer_email: 'new@example.com',
      },
    ],
    [fake.event('price.updated', { id: 'price_1', object: 'price' }), { generic_type: null, object_id: 'price_1' }],
  ]
  for (const [event, data] of events) {
    t.same(await send(signed(event)), [200, undefined])
    matchList(t, await inboxOf(event.id), [{ type: 'ProviderEventReceived' }, { type: 'ProviderEventUnmatched', data }])
  }
})

t.test('a foreign Stripe intent that names our payment changes nothing [10.2-other-intent]', async (t) => {
  const { id } = await open()
  const foreign = fake.openIntent({ amount: 2599, currency: 'usd', metadata: { payment_id: id } })
  const sent = [...fake.pay(foreign.id, 'succeeded'), ...fake.refund(foreign.id)]
  for (const event of sent) t.same(await send(signed(event)), [200, undefined])
  const history = await historyOf(id)
  t.same(new Set(history), new Set(['ProviderEventIgnored']))
  t.match((await reconcile(id)).payment, { status: 'pending' })
})

t.test('a Stripe notification that arrives before the response of our call finds its payment', async (t) => {
  fake.faults.next({ kind: 'drop', commits: true }, { kind: 'drop', commits: false }, { kind: 'drop', commits: false })
  const payload = { total_cents: 2599, currency: 'USD' }
  const lost = await receiver.app.inject({ method: 'POST', url: '/payments/intents', payload })
  t.equal(lost.statusCode, 504)
  const { payment_id } = lost.json().error.details
  const intent = fake.intents().find(({ metadata }) => metadata.payment_id === payment_id) ?? fail('the intent')
  const paid = pay(intent.id, 'succeeded')
  t.same(await send(signed(paid)), [200, undefined])
  t.same((await historyOf(payment_id)).slice(-1), ['PaymentSucceeded'])
  t.match(await reconcile(payment_id), { payment: { status: 'succeeded', provider_intent_id: intent.id } })
  const [created] = fake.refund(intent.id)
  const object = { ...(created ?? fail('the refund')).data.object, payment_intent: null }
  t.same(await send(signed(fake.event('refund.created', object))), [200, undefined])
  t.same((await historyOf(payment_id)).slice(-1), ['RefundRecorded'])
})
