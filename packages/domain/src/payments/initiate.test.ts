import { given } from '@paylog/testing/assertions'
import t from 'tap'
import { paymentFold } from './fold.ts'
import { priceOf, recordInitiation, recordIntentCreated, startAttempt } from './initiate.ts'
import { noPayment, type PaymentState, type PaymentStatus } from './payment.ts'
import {
  afterCreateFailed,
  at,
  created,
  createFails,
  eventsAfter,
  failures,
  fold,
  initiated,
  notifies,
  paymentFixture,
} from './testing/paymentFixture.ts'

const { unknown, throttled, unavailable, declined } = failures
const secrets = { client_secret: 'cs_9', redirect_url: 'https://pay.example.com/9' }
const create = (state: PaymentState) =>
  recordIntentCreated({ occurred_at: at(8), attempt: 1, provider_intent_id: 'pi_9', ...secrets }, state)
const afterUnknown = afterCreateFailed(unknown)

t.test(
  'a payment starts pending with its parts completed and its currency in upper case [2.1-currency 3-initial]',
  async (t) => {
    const state = given(t, paymentFold, [])
      .when((state) => recordInitiation(paymentFixture, state))
      .then([
        { type: 'PaymentInitiated', data: { subtotal_cents: 2599, tax_cents: 0, discount_cents: 0, currency: 'EUR' } },
      ])
    t.match(state, { status: 'pending', completed_at: null, created_at: at(0) })
  },
)

t.test('initiating the same payment again records nothing', async (t) => {
  given(t, paymentFold, initiated)
    .when((state) => recordInitiation(paymentFixture, state))
    .then([])
})

t.test('a price with inconsistent amounts, an unknown currency or a zero total is rejected', async (t) => {
  const isRejected = (change: object, code: string) =>
    t.throws(() => priceOf({ total_cents: 2599, currency: 'eur', ...change }), { code })
  isRejected({ subtotal_cents: 2000, tax_cents: 100 }, 'amount_inconsistent')
  isRejected({ total_cents: 100, discount_cents: 1_000_000_000_000 }, 'amount_inconsistent')
  isRejected({ total_cents: undefined, subtotal_cents: 100, discount_cents: 101 }, 'amount_inconsistent')
  isRejected({ total_cents: undefined }, 'invalid_request')
  isRejected({ total_cents: undefined, subtotal_cents: 100, discount_cents: 100 }, 'invalid_request')
  isRejected({ currency: 'ABC' }, 'invalid_request')
  isRejected({ currency: 'XTS' }, 'invalid_request')
})

t.test("the provider's method and customer ids are kept for every intent attempt", async (t) => {
  const provider_method = { provider_method_id: 'pm_1', provider_customer_id: 'cus_1' }
  const payment_method_id = '018f0000-0000-7000-8000-000000000002'
  const [opened] = recordInitiation({ ...paymentFixture, payment_method_id, provider_method }, noPayment)
  t.match(opened, { data: { payment_method_id, provider_method } })
  const state = opened ? paymentFold.evolve(noPayment, opened) : noPayment
  t.match(state, { payment_method_id, provider_method })
  const [failed] = createFails(unavailable)(state)
  const retried = failed ? paymentFold.evolve(state, failed) : state
  const [started] = startAttempt({ occurred_at: at(8) }, retried)
  t.match(started ? paymentFold.evolve(retried, started) : undefined, { create: { attempt: 2 }, provider_method })
})

t.test('project_id is taken from the metadata when it is a non-empty string', async (t) => {
  const [event] = recordInitiation({ ...paymentFixture, metadata: { project_id: 'blue' } }, noPayment)
  t.match(event, { data: { project_id: 'blue' } })
  for (const project_id of [7, '']) {
    const [without] = recordInitiation({ ...paymentFixture, metadata: { project_id } }, noPayment)
    t.match(without, { data: { project_id: null } })
  }
})

t.test('an intent is recorded once', async (t) => {
  given(t, paymentFold, [...initiated, ...created])
    .when(create)
    .then([])
})

t.test('an unknown outcome leaves the payment pending [3-create-unknown]', async (t) => {
  const state = given(t, paymentFold, initiated)
    .when(createFails(unknown))
    .then([{ type: 'ProviderCallFailed', data: { call: 'create', attempt: 1, ...unknown } }])
  t.match(state, { status: 'pending', create: { outcome: 'unknown' }, was_unknown: true, updated_at: at(6) })
})

t.test('a throttled create call leaves the payment pending', async (t) => {
  const state = given(t, paymentFold, initiated)
    .when(createFails(throttled))
    .then([{ type: 'ProviderCallFailed', data: { call: 'create', attempt: 1, ...throttled } }])
  t.match(state, { status: 'pending', create: { outcome: 'throttled', attempt: 1 }, was_unknown: false })
  t.match(create(state), [{ type: 'ProviderIntentCreated' }])
})

t.test('a rejected create call fails the payment [3-create-rejected]', async (t) => {
  const state = given(t, paymentFold, initiated)
    .when(createFails(declined))
    .then([{ type: 'ProviderCallFailed', data: { call: 'create', attempt: 1, ...declined } }])
  const rejection = { code: 'payment_declined', message: 'no' }
  t.match(state, { status: 'failed', completed_at: null, report_time: null, create: { rejection } })
})

t.test('a rejection is not recorded once the status is final', async (t) => {
  const early = notifies('succeeded', 3, { provider_intent_id: 'pi_1' })(fold(initiated))
  for (const why of [unavailable, declined])
    given(t, paymentFold, [...initiated, ...early])
      .when(createFails(why))
      .then([])
})

t.test('another intent attempt is started once, and only after a call that had no effect', async (t) => {
  const start = (state: PaymentState) => startAttempt({ occurred_at: at(5) }, state)
  const started = given(t, paymentFold, afterCreateFailed(unavailable))
    .when(start)
    .then([{ type: 'PaymentAttemptStarted', data: { attempt: 2 } }])
  t.match(started, { status: 'pending', create: { attempt: 2, started_at: at(5), outcome: 'open' } })
  t.same(start(started), [], 'already started')
  for (const history of [
    initiated,
    [...initiated, ...created],
    afterCreateFailed(declined),
    eventsAfter('failed'),
    eventsAfter('succeeded'),
  ])
    given(t, paymentFold, history).when(start).then([])
  t.match(createFails(unknown, 2)(started).reduce(paymentFold.evolve, started), {
    status: 'pending',
    was_unknown: true,
  })
})

t.test('a resumed call that the provider rejects or accepts settles the unknown outcome', async (t) => {
  const rejected = given(t, paymentFold, afterUnknown)
    .when(createFails(declined))
    .then([{ type: 'ProviderCallFailed', data: { error_code: 'payment_declined' } }])
  t.match(rejected, { status: 'failed', create: { outcome: 'rejected' }, was_unknown: true })
  const created = given(t, paymentFold, afterUnknown)
    .when(create)
    .then([{ type: 'ProviderIntentCreated' }])
  t.match(created, { status: 'pending', create: { outcome: 'done' }, was_unknown: true })
})

t.test('an unknown outcome reopens a payment that failed because another call had no effect', async (t) => {
  const state = given(t, paymentFold, afterCreateFailed(unavailable))
    .when(createFails(unknown))
    .then([
      { type: 'PaymentAttemptStarted', data: { attempt: 1 } },
      { type: 'ProviderCallFailed', data: { attempt: 1, outcome: 'unknown' } },
    ])
  t.match(state, { status: 'pending', create: { attempt: 1, outcome: 'unknown' }, was_unknown: true })
})

t.test('the outcome of a call does not reopen a payment whose failure the provider reported', async (t) => {
  const early = [
    ...afterCreateFailed(unavailable),
    ...notifies('failed', 10, { provider_intent_id: null })(fold(afterCreateFailed(unavailable))),
  ]
  t.match(
    given(t, paymentFold, early)
      .when(create)
      .then([{ type: 'ProviderIntentCreated' }]),
    { status: 'failed' },
  )
  t.match(
    given(t, paymentFold, early)
      .when(createFails(unknown))
      .then([{ type: 'ProviderCallFailed' }]),
    { status: 'failed' },
  )
})

t.test('a created intent reopens a payment that another process recorded as rejected', async (t) => {
  for (const why of [unavailable, declined]) {
    const state = given(t, paymentFold, afterCreateFailed(why))
      .when(create)
      .then([{ type: 'PaymentAttemptStarted', data: { attempt: 1 } }, { type: 'ProviderIntentCreated' }])
    t.match(state, { status: 'pending', provider_intent_id: 'pi_9', create: { outcome: 'done' } })
    t.same(create(state), [])
  }
})

t.test('an intent that is recorded late keeps the status that the provider already reported', async (t) => {
  for (const status of ['failed', 'succeeded', 'canceled'] as const) {
    const early = [...initiated, ...notifies(status, 10)(fold(initiated))]
    const state = given(t, paymentFold, early)
      .when(create)
      .then([{ type: 'ProviderIntentCreated' }])
    const shown = status === 'failed' ? secrets : { client_secret: null, redirect_url: null }
    t.match(state, { status, provider_intent_id: 'pi_9', ...shown })
  }
})

t.test('a payment keeps its client secret and page until it has ended', async (t) => {
  const open = [...initiated, ...create(fold(initiated))]
  const after = (status: PaymentStatus) =>
    fold([...open, ...notifies(status, 10, { provider_intent_id: 'pi_9' })(fold(open))])
  for (const status of ['processing', 'failed'] as const) t.match(after(status), { status, ...secrets })
  for (const status of ['succeeded', 'canceled'] as const)
    t.match(after(status), { status, client_secret: null, redirect_url: null })
})

t.test('a notification is not stale because its provider time is before our own calls', async (t) => {
  const started = startAttempt({ occurred_at: at(5) }, fold(afterCreateFailed(unavailable)))
  const second = [...afterCreateFailed(unavailable), ...started]
  const withIntent = [
    ...second,
    ...recordIntentCreated(
      { occurred_at: at(6), attempt: 2, provider_intent_id: 'pi_1', client_secret: null },
      fold(second),
    ),
  ]
  given(t, paymentFold, withIntent)
    .when(notifies('failed', 1))
    .then([{ type: 'PaymentAttemptFailed' }])
})
