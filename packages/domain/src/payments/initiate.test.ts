import { given } from '@paylog/testing/assertions'
import t from 'tap'
import { paymentFold } from './fold.ts'
import {
  initiatePayment,
  recordCallThrottled,
  recordIntentCreated,
  recordIntentRejected,
  recordOutcomeUnknown,
  startAttempt,
} from './initiate.ts'
import { noPayment, type PaymentState, type PaymentStatus } from './payment.ts'
import {
  at,
  created,
  declined,
  eventsAfter,
  fold,
  initiated,
  notifies,
  paymentFixture,
  rejectedBy,
  unavailable,
} from './testing/paymentFixture.ts'

const unknown = (attempt = 1) => {
  return (state: PaymentState) => recordOutcomeUnknown({ occurred_at: at(6), attempt, reason: 'timeout' }, state)
}
const reject = (why: typeof unavailable | typeof declined, attempt = 1) => {
  return (state: PaymentState) => recordIntentRejected({ occurred_at: at(7), attempt, ...why }, state)
}
const secrets = { client_secret: 'cs_9', redirect_url: 'https://pay.example.com/9' }
const create = (state: PaymentState) =>
  recordIntentCreated({ occurred_at: at(8), attempt: 1, provider_intent_id: 'pi_9', ...secrets }, state)
const afterUnknown = [...initiated, ...unknown()(fold(initiated))]

t.test(
  'a payment starts pending with its parts completed and its currency in upper case [2.1-currency 3-initial]',
  async (t) => {
    const state = given(t, paymentFold, [])
      .when((state) => initiatePayment(paymentFixture, state))
      .then([
        { type: 'PaymentInitiated', data: { subtotal_cents: 2599, tax_cents: 0, discount_cents: 0, currency: 'EUR' } },
      ])
    t.match(state, { status: 'pending', completed_at: null, created_at: at(0) })
  },
)

t.test('initiating the same payment again records nothing', async (t) => {
  given(t, paymentFold, initiated)
    .when((state) => initiatePayment(paymentFixture, state))
    .then([])
})

t.test('initiating a payment with inconsistent amounts, an unknown currency or a zero total is rejected', async (t) => {
  const isRejected = (change: object, code: string) =>
    given(t, paymentFold, [])
      .when((state) => initiatePayment({ ...paymentFixture, ...change }, state))
      .thenThrows(code)
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
  const [opened] = initiatePayment({ ...paymentFixture, payment_method_id, provider_method }, noPayment)
  t.match(opened, { data: { payment_method_id, provider_method } })
  const state = opened ? paymentFold.evolve(noPayment, opened) : noPayment
  t.match(state, { payment_method_id, provider_method })
  const [failed] = recordIntentRejected({ occurred_at: at(7), attempt: 1, ...unavailable }, state)
  const retried = failed ? paymentFold.evolve(state, failed) : state
  const [started] = startAttempt({ occurred_at: at(8) }, retried)
  t.match(started ? paymentFold.evolve(retried, started) : undefined, { attempt: 2, provider_method })
})

t.test('project_id is taken from the metadata when it is a non-empty string', async (t) => {
  const [event] = initiatePayment({ ...paymentFixture, metadata: { project_id: 'blue' } }, noPayment)
  t.match(event, { data: { project_id: 'blue' } })
  for (const project_id of [7, '']) {
    const [without] = initiatePayment({ ...paymentFixture, metadata: { project_id } }, noPayment)
    t.match(without, { data: { project_id: null } })
  }
})

t.test('the outcome of the create call is recorded once', async (t) => {
  given(t, paymentFold, [...initiated, ...created])
    .when((state) =>
      recordIntentCreated({ occurred_at: at(2), attempt: 1, provider_intent_id: 'pi_2', client_secret: null }, state),
    )
    .then([])
  given(t, paymentFold, [...initiated, ...created])
    .when((state) => recordOutcomeUnknown({ occurred_at: at(2), attempt: 1, reason: 'timeout' }, state))
    .then([])
})

t.test('an unknown outcome leaves the payment pending [3-create-unknown]', async (t) => {
  const state = given(t, paymentFold, initiated)
    .when((state) => recordOutcomeUnknown({ occurred_at: at(2), attempt: 1, reason: 'timeout' }, state))
    .then([{ type: 'ProviderOutcomeUnknown' }])
  t.match(state, { status: 'pending', intent_outcome: { kind: 'unknown' } })
})

t.test(
  'a throttled create call leaves the payment pending, and the outcome of another call still counts',
  async (t) => {
    const throttle = (state: PaymentState) =>
      recordCallThrottled({ occurred_at: at(2), attempt: 1, reason: 'rate_limit' }, state)
    const throttled = given(t, paymentFold, initiated)
      .when(throttle)
      .then([{ type: 'ProviderCallThrottled', data: { attempt: 1, reason: 'rate_limit' } }])
    t.match(throttled, { status: 'pending', intent_outcome: { kind: 'throttled' }, attempt: 1, was_unknown: false })
    t.same([throttle(throttled), reject(unavailable)(throttled)], [[], []])
    t.match(create(throttled), [{ type: 'ProviderIntentCreated' }])
    t.match(reject(declined)(throttled), [{ type: 'PaymentAttemptFailed' }])
    t.match(unknown()(throttled), [{ type: 'ProviderOutcomeUnknown' }])
    for (const history of [[...initiated, ...created], afterUnknown, rejectedBy(declined), rejectedBy(unavailable)])
      given(t, paymentFold, history).when(throttle).then([])
  },
)

t.test('a rejected create call fails the payment [3-create-rejected]', async (t) => {
  const state = given(t, paymentFold, initiated)
    .when((state) => recordIntentRejected({ occurred_at: at(2), attempt: 1, ...declined }, state))
    .then([{ type: 'PaymentAttemptFailed', data: { refusal: 'payment_declined', failure_code: 'card_declined' } }])
  t.match(state, { status: 'failed', completed_at: null, evidence_time: null, intent_outcome: { kind: 'rejected' } })
})

t.test('a rejection is not recorded once the intent exists or the status is final', async (t) => {
  for (const why of [unavailable, declined])
    given(t, paymentFold, [...initiated, ...created])
      .when(reject(why))
      .then([])
  const early = notifies('succeeded', 3, { provider_intent_id: 'pi_1' })(fold(initiated))
  given(t, paymentFold, [...initiated, ...early])
    .when(reject(declined))
    .then([])
})

t.test('another intent attempt is started once, and only after a call that had no effect', async (t) => {
  const start = (state: PaymentState) => startAttempt({ occurred_at: at(5) }, state)
  const started = given(t, paymentFold, rejectedBy(unavailable))
    .when(start)
    .then([{ type: 'PaymentAttemptStarted', data: { attempt: 2 } }])
  t.match(started, { status: 'pending', attempt: 2, attempt_started_at: at(5), intent_outcome: { kind: 'open' } })
  t.same(start(started), [], 'already started')
  for (const history of [
    initiated,
    [...initiated, ...created],
    rejectedBy(declined),
    eventsAfter('failed'),
    eventsAfter('succeeded'),
  ])
    given(t, paymentFold, history).when(start).then([])
  t.match(unknown(2)(started).reduce(paymentFold.evolve, started), { status: 'pending', was_unknown: true })
})

t.test('a resumed call that does not reach the provider leaves the outcome unknown', async (t) => {
  given(t, paymentFold, afterUnknown).when(reject(unavailable)).then([])
  given(t, paymentFold, afterUnknown).when(unknown()).then([])
})

t.test('a resumed call that the provider rejects or accepts settles the unknown outcome', async (t) => {
  const rejected = given(t, paymentFold, afterUnknown)
    .when(reject(declined))
    .then([{ type: 'PaymentAttemptFailed', data: { refusal: 'payment_declined' } }])
  t.match(rejected, { status: 'failed', intent_outcome: { kind: 'rejected' }, was_unknown: true })
  const created = given(t, paymentFold, afterUnknown)
    .when(create)
    .then([{ type: 'ProviderIntentCreated' }])
  t.match(created, { status: 'pending', intent_outcome: { kind: 'created' }, was_unknown: true })
})

t.test("a rejection is recorded once, and the provider's own rejection is final", async (t) => {
  given(t, paymentFold, rejectedBy(unavailable)).when(reject(unavailable)).then([])
  for (const again of [reject(declined), reject(unavailable), unknown()])
    given(t, paymentFold, rejectedBy(declined)).when(again).then([])
  const declinedLater = given(t, paymentFold, rejectedBy(unavailable))
    .when(reject(declined))
    .then([{ type: 'PaymentAttemptFailed', data: { refusal: 'payment_declined' } }])
  t.match(declinedLater, { status: 'failed', intent_outcome: { refusal: 'payment_declined' } })
})

t.test('an unknown outcome reopens a payment that failed because another call had no effect', async (t) => {
  const state = given(t, paymentFold, rejectedBy(unavailable))
    .when(unknown())
    .then([
      { type: 'PaymentAttemptStarted', data: { attempt: 1 } },
      { type: 'ProviderOutcomeUnknown', data: { attempt: 1 } },
    ])
  t.match(state, { status: 'pending', attempt: 1, intent_outcome: { kind: 'unknown' }, was_unknown: true })
})

t.test('the outcome of a call does not reopen a payment whose failure the provider reported', async (t) => {
  const early = [
    ...rejectedBy(unavailable),
    ...notifies('failed', 10, { provider_intent_id: null })(fold(rejectedBy(unavailable))),
  ]
  t.match(
    given(t, paymentFold, early)
      .when(create)
      .then([{ type: 'ProviderIntentCreated' }]),
    { status: 'failed' },
  )
  t.match(
    given(t, paymentFold, early)
      .when(unknown())
      .then([{ type: 'ProviderOutcomeUnknown' }]),
    { status: 'failed' },
  )
})

t.test('a created intent reopens a payment that another process recorded as rejected', async (t) => {
  for (const why of [unavailable, declined]) {
    const state = given(t, paymentFold, rejectedBy(why))
      .when(create)
      .then([{ type: 'PaymentAttemptStarted', data: { attempt: 1 } }, { type: 'ProviderIntentCreated' }])
    t.match(state, { status: 'pending', provider_intent_id: 'pi_9', intent_outcome: { kind: 'created' } })
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
  const started = startAttempt({ occurred_at: at(5) }, fold(rejectedBy(unavailable)))
  const second = [...rejectedBy(unavailable), ...started]
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
