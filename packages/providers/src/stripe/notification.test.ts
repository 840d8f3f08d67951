// Stripe's notifications in our words: every row of the tables, both shapes of billing, and what is no event.
import { invoiceBody, subscriptionBody } from '@paylog/testing/stripe/billing'
import { startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import t from 'tap'
import { readNotification } from './notification.ts'

const created = 1_767_268_800
const occurred_at = '2026-01-01T12:00:00.000Z'
const payment_id = '018f0000-0000-7000-8000-000000000001'
const intent = { id: 'pi_1', amount: 2599, currency: 'eur', status: 'processing', customer: 'cus_1' }

const event = (type: string, object: object, previous_attributes?: object) => ({
  id: 'evt_1',
  object: 'event',
  type,
  created,
  data: { object, ...(previous_attributes ? { previous_attributes } : {}) },
})
const read = (body: unknown) => readNotification(Buffer.from(JSON.stringify(body)))
const told = (type: string, object: object, previous?: object) => read(event(type, object, previous))

t.test('every type has its generic name, or none', async (t) => {
  const names: readonly [string, string | null][] = [
    ['payment_intent.created', 'payment_intent.created'],
    ['payment_intent.succeeded', 'payment_intent.succeeded'],
    ['payment_intent.payment_failed', 'payment_intent.failed'],
    ['payment_intent.failed', 'payment_intent.failed'],
    ['payment_intent.canceled', 'payment_intent.canceled'],
    ['payment_intent.processing', 'payment_intent.processing'],
    ['payment_intent.amount_capturable_updated', 'payment_intent.processing'],
    ['payment_intent.requires_action', 'payment_intent.requires_action'],
    ['payment_intent.partially_funded', null],
    ['payment_method.attached', 'payment_method.attached'],
    ['payment_method.detached', 'payment_method.detached'],
    ['payment_method.updated', 'payment_method.updated'],
    ['payment_method.automatically_updated', 'payment_method.updated'],
    ['customer.subscription.created', 'subscription.created'],
    ['customer.subscription.updated', 'subscription.updated'],
    ['customer.subscription.paused', 'subscription.updated'],
    ['customer.subscription.resumed', 'subscription.updated'],
    ['customer.subscription.deleted', 'subscription.deleted'],
    ['customer.subscription.trial_will_end', 'subscription.trial_will_end'],
    ['subscription.created', 'subscription.created'],
    ['subscription.updated', 'subscription.updated'],
    ['subscription.deleted', 'subscription.deleted'],
    ['subscription.trial_will_end', 'subscription.trial_will_end'],
    ['invoice.payment_succeeded', 'invoice.payment_succeeded'],
    ['invoice.payment_failed', 'invoice.payment_failed'],
    ['invoice.paid', null],
    ['customer.created', 'customer.created'],
    ['customer.updated', 'customer.updated'],
    ['customer.deleted', 'customer.deleted'],
    ['charge.succeeded', null],
    ['charge.failed', null],
    ['charge.refunded', null],
    ['charge.dispute.created', null],
    ['charge.dispute.closed', null],
    ['refund.created', null],
    ['refund.updated', null],
    ['refund.failed', null],
    ['charge.refund.updated', null],
    ['setup_intent.succeeded', null],
    ['something.new', null],
    ['constructor', null],
  ]
  for (const [type, generic_type] of names)
    t.match(
      told(type, intent),
      { provider_event_id: 'evt_1', provider_type: type, generic_type, occurred_at, object_id: 'pi_1' },
      type,
    )
})

t.test('an event about an intent is evidence of its status', async (t) => {
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
      told(type, { ...intent, latest_charge: 'ch_1', metadata: { payment_id }, receipt_email: 'user@example.com' }),
      {
        amount_cents: 2599,
        currency: 'EUR',
        status: 'processing',
        customer_id: 'cus_1',
        customer_email: 'user@example.com',
        claimed_payment_id: payment_id,
        statement: {
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

t.test('a failure names the charge that failed, and none when it came to none', async (t) => {
  const failed = (charge?: object | string) => {
    const last_payment_error = { type: 'card_error', ...(charge === undefined ? {} : { charge }) }
    const { statement } = told('payment_intent.payment_failed', {
      ...intent,
      latest_charge: 'ch_1',
      last_payment_error,
    })
    return statement?.provider_payment_id
  }
  t.equal(failed('ch_2'), 'ch_2')
  t.equal(failed({ id: 'ch_3', object: 'charge' }), 'ch_3')
  t.equal(failed(), null, 'the latest charge is of an earlier attempt')
})

t.test('an intent that came into being is told of, and says nothing about the payment', async (t) => {
  t.match(told('payment_intent.created', { ...intent, metadata: { payment_id } }), {
    amount_cents: 2599,
    currency: 'EUR',
    claimed_payment_id: payment_id,
    statement: { about: 'mention', provider_intent_id: 'pi_1', provider_payment_id: null },
  })
})

t.test('a success is over what was received', async (t) => {
  const { statement, amount_cents } = told('payment_intent.succeeded', { ...intent, amount_received: 1000 })
  t.match(statement, { amount_cents: 1000 })
  t.equal(amount_cents, 1000)
  t.match(told('payment_intent.succeeded', { ...intent, currency: 'isk', amount: 500 }), { amount_cents: 5 })
})

t.test('a failure has the code of the bank and words of ours', async (t) => {
  const error = { type: 'card_error', code: 'card_declined', message: 'Your card 4242 was declined.' }
  const failed = (last_payment_error: object | null) =>
    told('payment_intent.payment_failed', { ...intent, last_payment_error }).statement
  t.match(failed({ ...error, decline_code: 'lost_card' }), { failure_code: 'lost_card' })
  t.match(failed(error), { failure_code: 'card_declined', failure_message: 'The payment was declined' })
  t.match(failed({ type: 'api_error' }), { failure_code: 'api_error' })
  t.match(failed(null), { failure_code: 'failed' })
  const canceled = told('payment_intent.canceled', { ...intent, cancellation_reason: 'duplicate' }).statement
  t.match(canceled, { reason: 'duplicate' })
})

t.test('a claim is believed to be one only if it is an id of ours', async (t) => {
  for (const metadata of [{ payment_id: 'order-17' }, { payment_id: '' }, {}, null, undefined])
    t.equal(told('payment_intent.succeeded', { ...intent, metadata }).claimed_payment_id, null)
})

t.test('references may be written out', async (t) => {
  const written = told('payment_intent.succeeded', {
    ...intent,
    customer: { id: 'cus_2', object: 'customer' },
    latest_charge: { id: 'ch_2', object: 'charge' },
  })
  t.match(written, { customer_id: 'cus_2', statement: { provider_payment_id: 'ch_2' } })
})

t.test('a refund is what was added to the sum of all', async (t) => {
  const charge = { id: 'ch_1', amount: 2599, amount_refunded: 1500, currency: 'eur', payment_intent: 'pi_1' }
  const refund = told('charge.refunded', { ...charge, metadata: { payment_id } }, { amount_refunded: 500 })
  t.match(refund, {
    object_id: 'ch_1',
    amount_cents: 2599,
    claimed_payment_id: payment_id,
    statement: {
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
  t.match(told('charge.refunded', { ...charge, refunds }, { amount_refunded: 500 }), {
    statement: { refund_id: 're_2' },
  })
  t.match(told('charge.refunded', charge), { statement: { refunded_cents: null } }, 'which sum was before is not said')
  t.match(
    told('charge.refunded', charge, { amount_refunded: 2000 }),
    { statement: { refunded_cents: null } },
    'nonsense',
  )
  const isk = { ...charge, currency: 'isk', amount_refunded: 1500 }
  t.match(told('charge.refunded', isk, { amount_refunded: 500 }), { statement: { refunded_cents: 10 } })
})

t.test('a dispute and how it moves on', async (t) => {
  const types = ['created', 'updated', 'closed', 'funds_withdrawn', 'funds_reinstated']
  const dispute = { id: 'dp_1', amount: 1000, currency: 'eur', charge: 'ch_1', payment_intent: 'pi_1', status: 'Lost' }
  for (const type of types)
    t.match(told(`charge.dispute.${type}`, dispute).statement, {
      about: 'dispute',
      dispute_id: 'dp_1',
      dispute_status: 'lost',
      disputed_cents: 1000,
      provider_intent_id: 'pi_1',
      provider_payment_id: 'ch_1',
    })
  t.match(told('charge.dispute.closed', { id: 'dp_1' }).statement, {
    dispute_status: 'unknown',
    disputed_cents: null,
    provider_intent_id: null,
    provider_payment_id: null,
  })
})

t.test('the same money is not told twice', async (t) => {
  const charge = { id: 'ch_1', amount: 2599, currency: 'eur', payment_intent: 'pi_1', status: 'succeeded' }
  for (const type of ['charge.captured', 'refund.created', 'invoice.paid'])
    t.match(told(type, charge), { generic_type: null, statement: null, subscription: null }, type)
  const statement = { about: 'mention', provider_intent_id: 'pi_1', provider_payment_id: 'ch_1' }
  for (const type of ['charge.succeeded', 'charge.failed'])
    t.match(told(type, charge), { generic_type: null, statement }, type)
})

t.test('a subscription, in both shapes', async (t) => {
  for (const shape of ['since_2025', 'before_2025'] as const) {
    const body = subscriptionBody({
      id: 'sub_1',
      customer: 'cus_1',
      status: 'past_due',
      current_period_end: created,
      shape,
    })
    t.match(
      told('customer.subscription.updated', body),
      {
        object_id: 'sub_1',
        status: 'past_due',
        customer_id: 'cus_1',
        currency: 'USD',
        statement: null,
        subscription: {
          subscription_id: 'sub_1',
          current_period_end: occurred_at,
          status_changed: false,
          is_first_invoice: false,
        },
      },
      shape,
    )
  }
})

t.test('whether the status of a subscription changed is what the event itself says', async (t) => {
  const changed = (type: string, previous?: object) =>
    told(type, subscriptionBody(), previous).subscription?.status_changed
  t.equal(changed('customer.subscription.updated', { status: 'trialing' }), true)
  t.equal(changed('customer.subscription.updated', { cancel_at_period_end: false }), false)
  t.equal(changed('customer.subscription.updated'), false)
  t.equal(changed('customer.subscription.paused'), true)
  t.equal(changed('customer.subscription.resumed'), true)
  t.equal(changed('customer.subscription.created'), false)
})

t.test('an invoice of a subscription, in both shapes', async (t) => {
  for (const shape of ['since_2025', 'before_2025'] as const) {
    const facts = { subscription: 'sub_1', customer: 'cus_1', customer_email: 'user@example.com', shape } as const
    const paid = invoiceBody(facts)
    const said = {
      object_id: paid.id,
      amount_cents: 2000,
      currency: 'USD',
      customer_id: 'cus_1',
      customer_email: 'user@example.com',
      subscription: {
        subscription_id: 'sub_1',
        current_period_end: null,
        status_changed: false,
        is_first_invoice: false,
      },
    }
    t.match(told('invoice.payment_succeeded', paid), { ...said, status: 'paid' }, shape)
    const unpaid = invoiceBody({ ...facts, paid: false })
    t.match(told('invoice.payment_failed', unpaid), { ...said, object_id: unpaid.id, status: 'open' }, shape)
    const first = invoiceBody({ ...facts, billing_reason: 'subscription_create' })
    t.match(told('invoice.payment_succeeded', first), { subscription: { is_first_invoice: true } }, shape)
  }
  const expanded = { ...invoiceBody(), parent: { subscription_details: { subscription: { id: 'sub_2' } } } }
  t.match(told('invoice.payment_succeeded', expanded), { subscription: { subscription_id: 'sub_2' } })
  const single = told('invoice.payment_succeeded', invoiceBody({ subscription: null }))
  t.match(single, { subscription: { subscription_id: null } }, 'of no subscription')
  const generic = { id: 'in_1', amount: 500, currency: 'eur', status: 'paid', customer: 'cus_1' }
  t.match(told('invoice.payment_succeeded', generic), { amount_cents: 500, subscription: null }, 'in the neutral shape')
})

t.test('a customer and their methods', async (t) => {
  const customer = { id: 'cus_1', object: 'customer', email: 'user@example.com' }
  t.match(told('customer.updated', customer), {
    object_id: 'cus_1',
    customer_id: 'cus_1',
    customer_email: 'user@example.com',
  })
  for (const email of [null, 'no address', `${'a'.repeat(300)}@example.com`, 'a\u0000@example.com'])
    t.equal(told('customer.updated', { ...customer, email }).customer_email, null)
  const detached = told('payment_method.detached', { id: 'pm_1', customer: null }, { customer: 'cus_1' })
  t.match(detached, { object_id: 'pm_1', customer_id: 'cus_1' })
  t.match(told('payment_method.attached', { id: 'pm_1', customer: 'cus_2' }), { customer_id: 'cus_2' })
})

t.test('everything that the fake sends can be read', async (t) => {
  const fake = await startFakeStripe(t, { now: () => new Date(created * 1000) })
  const { id } = fake.openIntent({ amount: 2599, currency: 'eur', metadata: { payment_id } })
  for (const outcome of ['failed', 'requires_action', 'processing', 'succeeded'] as const) fake.pay(id, outcome)
  fake.refund(id, 599)
  fake.refund(id)
  fake.dispute(id)
  const told = fake.events.map((sent) => readNotification(Buffer.from(fake.signed(sent).body)))
  const statements = told.flatMap(({ statement }) => (statement === null ? [] : [statement]))
  t.same(
    statements
      .filter(({ about }) => about !== 'mention')
      .map((statement) => (statement.about === 'status' ? statement.status : statement.about)),
    ['failed', 'pending', 'processing', 'succeeded', 'refund', 'refund', 'dispute', 'dispute'],
  )
  t.same(
    statements.flatMap((statement) => (statement.about === 'refund' ? [statement.refunded_cents] : [])),
    [599, 2000],
  )
  t.same(new Set(statements.map(({ provider_intent_id }) => provider_intent_id)), new Set([id]))
})

t.test('an event of the second generation is kept and says nothing', async (t) => {
  const thin = {
    id: 'evt_test_65',
    object: 'v2.core.event',
    type: 'v1.billing.meter.error_report_triggered',
    created: '2026-01-01T12:00:00Z',
    livemode: false,
    related_object: { id: 'mtr_1', type: 'billing.meter', url: '/v1/billing/meters/mtr_1' },
  }
  t.match(read(thin), {
    provider_event_id: 'evt_test_65',
    provider_type: 'v1.billing.meter.error_report_triggered',
    generic_type: null,
    occurred_at,
    object_id: 'mtr_1',
    statement: null,
    subscription: null,
  })
  t.match(read({ ...thin, related_object: null, type: 'payment_intent.succeeded' }), {
    generic_type: null,
    statement: null,
    object_id: null,
  })
})

t.test('odd fields of events that say nothing about money are left out, whatever they are', async (t) => {
  const odd = {
    id: 'a\u0000b',
    status: 5,
    customer: [],
    currency: 'euro',
    email: {},
    amount: 1.5,
    items: [],
    parent: 'x',
  }
  const types = [
    'something.new',
    'charge.succeeded',
    'charge.refunded',
    'charge.dispute.created',
    'customer.subscription.updated',
    'invoice.payment_succeeded',
    'customer.created',
    'payment_method.attached',
  ]
  for (const type of types)
    t.match(
      told(type, odd, { status: {}, amount_refunded: 'x', customer: 7 }),
      { object_id: null, status: null, customer_id: null, customer_email: null, amount_cents: null, currency: null },
      type,
    )
})

t.test('what is no event is refused', async (t) => {
  const refused = { code: 'invalid_request' }
  const whole = event('payment_intent.succeeded', intent)
  const broken: readonly [string, unknown][] = [
    ['a list', []],
    ['null', null],
    ['no id', { ...whole, id: undefined }],
    ['a control character', { ...whole, id: 'evt_\u0000' }],
    ['a long id', { ...whole, id: 'e'.repeat(201) }],
    ['an empty type', { ...whole, type: '' }],
    ['a time that is text', { ...whole, created: occurred_at }],
    ['a time that is none', { ...whole, created: 1e15 }],
    ['no object', { ...whole, data: {} }],
    ['an object that is a list', { ...whole, data: { object: [] } }],
    ['a payment without an amount', event('payment_intent.succeeded', { ...intent, amount: undefined })],
    ['a payment over text', event('payment_intent.succeeded', { ...intent, amount: '2599' })],
    ['a payment over a part of a cent', event('payment_intent.succeeded', { ...intent, amount: 25.5 })],
    ['a payment over less than nothing', event('payment_intent.succeeded', { ...intent, amount: -1 })],
    ['a payment over a part of a króna', event('payment_intent.succeeded', { ...intent, currency: 'isk', amount: 50 })],
    ['a payment without a currency', event('payment_intent.succeeded', { ...intent, currency: null })],
    ['a payment without an id', event('payment_intent.succeeded', { ...intent, id: undefined })],
    ['a thin event without a time', { id: 'evt_1', object: 'v2.core.event', type: 'v1.x', created: 'soon' }],
  ]
  for (const [what, body] of broken) t.throws(() => read(body), refused, what)
  const [before, after] = JSON.stringify(event('customer.created', { id: 'cus_1', name: 'é' })).split('é')
  const bytes: readonly [string, Buffer][] = [
    ['no JSON', Buffer.from('no json')],
    ['nothing', Buffer.from('')],
    ['a byte order mark', Buffer.from(`\ufeff${before}${after}`)],
    ['no UTF-8', Buffer.concat([Buffer.from(before ?? ''), Buffer.from([0xff]), Buffer.from(after ?? '')])],
  ]
  for (const [what, body] of bytes) t.throws(() => readNotification(body), refused, what)
})
