import { given } from '@paylog/testing/assertions'
import t from 'tap'
import {
  initiatePayment,
  recordCallThrottled,
  recordIntentCreated,
  recordIntentRejected,
  recordOutcomeUnknown,
  startAttempt,
} from './initiate.ts'
import { noPayment, type PaymentState, paymentFold } from './payment.ts'
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
const create = (state: PaymentState) =>
  recordIntentCreated({ occurred_at: at(8), attempt: 1, provider_intent_id: 'pi_9', client_secret: null }, state)
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

t.test('the same payment is not opened twice', async (t) => {
  given(t, paymentFold, initiated)
    .when((state) => initiatePayment(paymentFixture, state))
    .then([])
})

t.test('amounts that do not add up, unknown currencies and a total of nothing are refused', async (t) => {
  const refused = (change: object, code: string) =>
    given(t, paymentFold, [])
      .when((state) => initiatePayment({ ...paymentFixture, ...change }, state))
      .thenThrows(code)
  refused({ subtotal_cents: 2000, tax_cents: 100 }, 'amount_inconsistent')
  refused({ total_cents: 100, discount_cents: 1_000_000_000_000 }, 'amount_inconsistent')
  refused({ total_cents: undefined, subtotal_cents: 100, discount_cents: 101 }, 'amount_inconsistent')
  refused({ total_cents: undefined }, 'invalid_request')
  refused({ total_cents: undefined, subtotal_cents: 100, discount_cents: 100 }, 'invalid_request')
  refused({ currency: 'ABC' }, 'invalid_request')
  refused({ currency: 'XTS' }, 'invalid_request')
})

t.test('what the provider calls the method, and its customer, is on record for every call', async (t) => {
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

t.test('a project named in the metadata belongs to the payment', async (t) => {
  const [event] = initiatePayment({ ...paymentFixture, metadata: { project_id: 'blue' } }, noPayment)
  t.match(event, { data: { project_id: 'blue' } })
  for (const project_id of [7, '']) {
    const [without] = initiatePayment({ ...paymentFixture, metadata: { project_id } }, noPayment)
    t.match(without, { data: { project_id: null } })
  }
})

t.test('the answer to the create call is recorded once', async (t) => {
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

t.test('a throttled create call leaves the payment pending, and says nothing of another call', async (t) => {
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
})

t.test('a refused create call fails the payment [3-create-rejected]', async (t) => {
  const state = given(t, paymentFold, initiated)
    .when((state) => recordIntentRejected({ occurred_at: at(2), attempt: 1, ...declined }, state))
    .then([{ type: 'PaymentAttemptFailed', data: { refusal: 'payment_declined', failure_code: 'card_declined' } }])
  t.match(state, { status: 'failed', completed_at: null, evidence_time: null, intent_outcome: { kind: 'rejected' } })
})

t.test('a refusal counts only while no intent is known and nothing is final', async (t) => {
  for (const why of [unavailable, declined])
    given(t, paymentFold, [...initiated, ...created])
      .when(reject(why))
      .then([])
  const early = notifies('succeeded', 3, { provider_intent_id: 'pi_1' })(fold(initiated))
  given(t, paymentFold, [...initiated, ...early])
    .when(reject(declined))
    .then([])
})

t.test('a further attempt is started once, and only after a call that surely did nothing', async (t) => {
  const start = (state: PaymentState) => startAttempt({ occurred_at: at(5) }, state)
  const started = given(t, paymentFold, rejectedBy(unavailable))
    .when(start)
    .then([{ type: 'PaymentAttemptStarted', data: { attempt: 2 } }])
  t.match(started, { status: 'pending', attempt: 2, attempt_started_at: at(5), intent_outcome: { kind: 'open' } })
  t.same(start(started), [], 'it is under way')
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

t.test('a resumed call that does not reach the provider says nothing about the one before it', async (t) => {
  given(t, paymentFold, afterUnknown).when(reject(unavailable)).then([])
  given(t, paymentFold, afterUnknown).when(unknown()).then([])
})

t.test('a resumed call that the provider answers ends the uncertainty', async (t) => {
  const refused = given(t, paymentFold, afterUnknown)
    .when(reject(declined))
    .then([{ type: 'PaymentAttemptFailed', data: { refusal: 'payment_declined' } }])
  t.match(refused, { status: 'failed', intent_outcome: { kind: 'rejected' }, was_unknown: true })
  const created = given(t, paymentFold, afterUnknown)
    .when(create)
    .then([{ type: 'ProviderIntentCreated' }])
  t.match(created, { status: 'pending', intent_outcome: { kind: 'created' }, was_unknown: true })
})

t.test('a refusal is recorded once, and what the provider itself refused stays refused', async (t) => {
  given(t, paymentFold, rejectedBy(unavailable)).when(reject(unavailable)).then([])
  for (const again of [reject(declined), reject(unavailable), unknown()])
    given(t, paymentFold, rejectedBy(declined)).when(again).then([])
  const answered = given(t, paymentFold, rejectedBy(unavailable))
    .when(reject(declined))
    .then([{ type: 'PaymentAttemptFailed', data: { refusal: 'payment_declined' } }])
  t.match(answered, { status: 'failed', intent_outcome: { refusal: 'payment_declined' } })
})

t.test('an unknown outcome opens a payment that failed because another call was never made', async (t) => {
  const state = given(t, paymentFold, rejectedBy(unavailable))
    .when(unknown())
    .then([
      { type: 'PaymentAttemptStarted', data: { attempt: 1 } },
      { type: 'ProviderOutcomeUnknown', data: { attempt: 1 } },
    ])
  t.match(state, { status: 'pending', attempt: 1, intent_outcome: { kind: 'unknown' }, was_unknown: true })
})

t.test('what the provider said of the payer is not undone by the end of a call', async (t) => {
  const early = [
    ...rejectedBy(unavailable),
    ...notifies('failed', 10, { is_own_intent: true })(fold(rejectedBy(unavailable))),
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

t.test('an intent that another process took for refused opens the payment again', async (t) => {
  for (const why of [unavailable, declined]) {
    const state = given(t, paymentFold, rejectedBy(why))
      .when(create)
      .then([{ type: 'PaymentAttemptStarted', data: { attempt: 1 } }, { type: 'ProviderIntentCreated' }])
    t.match(state, { status: 'pending', provider_intent_id: 'pi_9', intent_outcome: { kind: 'created' } })
    t.same(create(state), [])
  }
})

t.test('an intent that becomes known late does not undo what the provider has said about it', async (t) => {
  for (const status of ['failed', 'succeeded', 'canceled'] as const) {
    const early = [...initiated, ...notifies(status, 10, { is_own_intent: true })(fold(initiated))]
    const state = given(t, paymentFold, early)
      .when(create)
      .then([{ type: 'ProviderIntentCreated' }])
    t.match(state, { status, provider_intent_id: 'pi_9' })
  }
})

t.test('the provider is not measured by our clock', async (t) => {
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
