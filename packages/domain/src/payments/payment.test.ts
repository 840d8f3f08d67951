import { given } from '@paylog/testing/givenWhenThen'
import fc from 'fast-check'
import t from 'tap'
import type { PaymentEvent } from './events.ts'
import { type RecordEvidence, recordEvidence } from './evidence.ts'
import {
  initiatePayment,
  recordIntentCreated,
  recordIntentRefused,
  recordOutcomeUnknown,
  startAttempt,
} from './initiate.ts'
import { existing, noPayment, type Payment, type PaymentState, paymentFold } from './payment.ts'
import type { PaymentStatus } from './status.ts'

const paymentId = '018f0000-0000-7000-8000-000000000001'
const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString()

const opening = {
  payment_id: paymentId,
  occurred_at: at(0),
  provider_id: 'sandbox',
  total_cents: 2599,
  currency: 'eur',
  payer: { id: null, type: 'guest', email: 'guest@example.com' },
  concept: null,
  description: null,
  reference_code: null,
  category: null,
  tags: null,
  payment_method_id: null,
  is_guest_payment: true,
  guest_email: 'guest@example.com',
  guest_name: null,
  guest_phone: null,
  metadata: {},
  request_fingerprint: null,
}

const initiated = initiatePayment(opening, noPayment)
const fold = (events: readonly PaymentEvent[]) => events.reduce(paymentFold.evolve, paymentFold.initialState)
const created = recordIntentCreated(
  { occurred_at: at(1), attempt: 1, provider_intent_id: 'pi_1', client_secret: 'secret' },
  fold(initiated),
)

let nextEvent = 0
const says = (status: PaymentStatus, seconds: number, more: Partial<RecordEvidence> = {}) => {
  const evidence = {
    status,
    provider_time: at(seconds),
    provider_event_id: `evt_${nextEvent++}`,
    provider_intent_id: 'pi_1',
    provider_payment_id: null,
    amount_cents: 2599,
    currency: 'eur',
    ...more,
  }
  return (state: PaymentState) => recordEvidence({ ...evidence, occurred_at: at(seconds + 1) }, state)
}
/** A payment that was told these statuses, ten seconds apart. */
const after = (...statuses: PaymentStatus[]) =>
  statuses.reduce<PaymentEvent[]>(
    (events, status, index) => events.concat(says(status, 10 * (index + 1))(fold(events))),
    [...initiated, ...created],
  )

t.test('a payment starts pending with its parts completed and its currency in upper case', async (t) => {
  const state = given(t, paymentFold, [])
    .when((state) => initiatePayment(opening, state))
    .then([
      { type: 'PaymentInitiated', data: { subtotal_cents: 2599, tax_cents: 0, discount_cents: 0, currency: 'EUR' } },
    ])
  t.match(state, { status: 'pending', completed_at: null, created_at: at(0) })
})

t.test('the same payment is not opened twice', async (t) => {
  given(t, paymentFold, initiated)
    .when((state) => initiatePayment(opening, state))
    .then([])
})

t.test('amounts that do not add up, unknown currencies and a total of nothing are refused', async (t) => {
  const refused = (change: object, code: string) =>
    given(t, paymentFold, [])
      .when((state) => initiatePayment({ ...opening, ...change }, state))
      .thenThrows(code)
  refused({ subtotal_cents: 2000, tax_cents: 100 }, 'amount_inconsistent')
  refused({ total_cents: 100, discount_cents: 1_000_000_000_000 }, 'amount_inconsistent')
  refused({ total_cents: undefined, subtotal_cents: 100, discount_cents: 101 }, 'amount_inconsistent')
  refused({ total_cents: undefined }, 'invalid_request')
  refused({ total_cents: undefined, subtotal_cents: 100, discount_cents: 100 }, 'invalid_request')
  refused({ currency: 'ABC' }, 'invalid_request')
  refused({ currency: 'XTS' }, 'invalid_request')
})

t.test('a project named in the metadata belongs to the payment', async (t) => {
  const [event] = initiatePayment({ ...opening, metadata: { project_id: 'blue' } }, noPayment)
  t.match(event, { data: { project_id: 'blue' } })
  const [without] = initiatePayment({ ...opening, metadata: { project_id: 7 } }, noPayment)
  t.match(without, { data: { project_id: null } })
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

t.test('an unknown outcome leaves the payment pending', async (t) => {
  const state = given(t, paymentFold, initiated)
    .when((state) => recordOutcomeUnknown({ occurred_at: at(2), attempt: 1, reason: 'timeout' }, state))
    .then([{ type: 'ProviderOutcomeUnknown' }])
  t.match(state, { status: 'pending', intent_outcome: { kind: 'unknown' } })
})

const unavailable = { refusal: 'provider_unavailable', code: 'refused', message: 'down' } as const
const declined = { refusal: 'payment_declined', code: 'card_declined', message: 'no' } as const
const refusedBy = (why: typeof unavailable | typeof declined) => [
  ...initiated,
  ...recordIntentRefused({ occurred_at: at(2), attempt: 1, ...why }, fold(initiated)),
]

t.test('a refused create call fails the payment', async (t) => {
  const state = given(t, paymentFold, initiated)
    .when((state) => recordIntentRefused({ occurred_at: at(2), attempt: 1, ...declined }, state))
    .then([{ type: 'PaymentAttemptFailed', data: { refusal: 'payment_declined', failure_code: 'card_declined' } }])
  t.match(state, { status: 'failed', completed_at: null, evidence_time: null, intent_outcome: { kind: 'refused' } })
})

t.test('a refusal counts only while no intent is known and nothing is final', async (t) => {
  const refuse = (state: PaymentState) => recordIntentRefused({ occurred_at: at(9), attempt: 1, ...unavailable }, state)
  given(t, paymentFold, [...initiated, ...created])
    .when(refuse)
    .then([])
  const early = says('succeeded', 3, { provider_intent_id: 'pi_1' })(fold(initiated))
  given(t, paymentFold, [...initiated, ...early])
    .when(refuse)
    .then([])
})

t.test('a further attempt is started once, and only after a call that surely did nothing', async (t) => {
  const start = (state: PaymentState) => startAttempt({ occurred_at: at(5) }, state)
  const started = given(t, paymentFold, refusedBy(unavailable))
    .when(start)
    .then([{ type: 'PaymentAttemptStarted', data: { attempt: 2 } }])
  t.match(started, { status: 'pending', attempt: 2, intent_outcome: { kind: 'open', since: at(5) } })
  t.same(start(started), [], 'it is under way')
  for (const history of [
    initiated,
    [...initiated, ...created],
    refusedBy(declined),
    after('failed'),
    after('succeeded'),
  ])
    given(t, paymentFold, history).when(start).then([])
  const unknown = recordOutcomeUnknown({ occurred_at: at(6), attempt: 2, reason: 'timeout' }, started)
  t.match(unknown.reduce(paymentFold.evolve, started), { status: 'pending', was_unknown: true })
})

t.test('an intent that another process took for refused opens the payment again', async (t) => {
  const state = given(t, paymentFold, refusedBy(unavailable))
    .when((state) =>
      recordIntentCreated({ occurred_at: at(3), attempt: 1, provider_intent_id: 'pi_9', client_secret: null }, state),
    )
    .then([{ type: 'PaymentAttemptStarted' }, { type: 'ProviderIntentCreated' }])
  t.match(state, { status: 'pending', provider_intent_id: 'pi_9', intent_outcome: { kind: 'created' } })
})

t.test('an intent that becomes known late does not undo what the provider has said about it', async (t) => {
  const create = (state: PaymentState) =>
    recordIntentCreated({ occurred_at: at(20), attempt: 1, provider_intent_id: 'pi_1', client_secret: null }, state)
  for (const status of ['failed', 'succeeded', 'canceled'] as const) {
    const early = [...initiated, ...says(status, 10, { vouched: true })(fold(initiated))]
    const state = given(t, paymentFold, early)
      .when(create)
      .then([{ type: 'ProviderIntentCreated' }])
    t.match(state, { status, provider_intent_id: 'pi_1' })
  }
})

t.test('the provider is not measured by our clock', async (t) => {
  const started = startAttempt({ occurred_at: at(5) }, fold(refusedBy(unavailable)))
  const second = [...refusedBy(unavailable), ...started]
  const withIntent = [
    ...second,
    ...recordIntentCreated(
      { occurred_at: at(6), attempt: 2, provider_intent_id: 'pi_1', client_secret: null },
      fold(second),
    ),
  ]
  given(t, paymentFold, withIntent)
    .when(says('failed', 1))
    .then([{ type: 'PaymentAttemptFailed' }])
})

t.test('the status machine: every status against every newer statement', async (t) => {
  const table: Record<PaymentStatus, Record<PaymentStatus, [string, PaymentStatus]>> = {
    pending: {
      pending: ['PaymentActionRequired', 'pending'],
      processing: ['PaymentProcessingStarted', 'processing'],
      succeeded: ['PaymentSucceeded', 'succeeded'],
      failed: ['PaymentAttemptFailed', 'failed'],
      canceled: ['PaymentCanceled', 'canceled'],
    },
    processing: {
      pending: ['ProviderEventIgnored', 'processing'],
      processing: ['PaymentProcessingStarted', 'processing'],
      succeeded: ['PaymentSucceeded', 'succeeded'],
      failed: ['PaymentAttemptFailed', 'failed'],
      canceled: ['PaymentCanceled', 'canceled'],
    },
    failed: {
      pending: ['PaymentActionRequired', 'pending'],
      processing: ['PaymentProcessingStarted', 'processing'],
      succeeded: ['PaymentSucceeded', 'succeeded'],
      failed: ['PaymentAttemptFailed', 'failed'],
      canceled: ['PaymentCanceled', 'canceled'],
    },
    succeeded: {
      pending: ['ProviderEventIgnored', 'succeeded'],
      processing: ['ProviderEventIgnored', 'succeeded'],
      succeeded: ['', 'succeeded'],
      failed: ['ProviderEventIgnored', 'succeeded'],
      canceled: ['ProviderEventIgnored', 'succeeded'],
    },
    canceled: {
      pending: ['ProviderEventIgnored', 'canceled'],
      processing: ['ProviderEventIgnored', 'canceled'],
      succeeded: ['PaymentConflictDetected', 'canceled'],
      failed: ['ProviderEventIgnored', 'canceled'],
      canceled: ['', 'canceled'],
    },
  }
  for (const [from, row] of Object.entries(table) as [PaymentStatus, (typeof table)[PaymentStatus]][]) {
    for (const [to, [type, status]] of Object.entries(row) as [PaymentStatus, [string, PaymentStatus]][]) {
      const history = from === 'pending' ? after() : after(from)
      const before = existing(fold(history))
      t.equal(before.status, from)
      const events = says(to, 100)(before)
      t.same(
        events.map((event) => event.type),
        type ? [type] : [],
        `${from} told ${to}`,
      )
      t.equal(existing(events.reduce<PaymentState>(paymentFold.evolve, before)).status, status, `${from} to ${status}`)
    }
  }
})

t.test('older evidence loses, except that success and cancellation always count', async (t) => {
  const failedAt10 = fold(after('failed'))
  t.match(says('processing', 5)(failedAt10), [{ type: 'ProviderEventIgnored', data: { reason: 'stale' } }])
  t.match(says('pending', 5)(failedAt10), [{ type: 'ProviderEventIgnored', data: { reason: 'stale' } }])
  t.match(says('succeeded', 5)(failedAt10), [{ type: 'PaymentSucceeded' }])
  t.match(says('canceled', 5)(failedAt10), [{ type: 'PaymentCanceled' }])
  t.match(
    says('failed', 10)(fold(after('processing'))),
    [{ type: 'PaymentAttemptFailed' }],
    'a tie goes to the later arrival',
  )
})

t.test('a success over another amount or currency is not a success', async (t) => {
  const pending = fold(after())
  t.match(says('succeeded', 9, { amount_cents: 2598 })(pending), [
    {
      type: 'PaymentAmountMismatch',
      data: { reported_amount_cents: 2598, reported_currency: 'EUR', amount_cents: 2599 },
    },
  ])
  t.match(says('succeeded', 9, { currency: 'usd' })(pending), [{ type: 'PaymentAmountMismatch' }])
  const mismatched = says('succeeded', 9, { currency: 'usd' })(pending).reduce(paymentFold.evolve, pending)
  t.match(mismatched, { status: 'pending', completed_at: null })
})

t.test('a statement about another intent changes nothing', async (t) => {
  const foreign = { provider_intent_id: 'pi_other' }
  const isIgnored = [{ type: 'ProviderEventIgnored' as const, data: { reason: 'foreign_intent' as const } }]
  for (const history of [after(), after('failed'), after('succeeded'), refusedBy(declined), refusedBy(unavailable)])
    given(t, paymentFold, history)
      .when(says('succeeded', 90, foreign))
      .then(isIgnored)
})

t.test(
  'while the intent is not known, a statement counts that our records vouch for, or that may be about it',
  async (t) => {
    const early = { provider_intent_id: 'pi_1' }
    given(t, paymentFold, initiated)
      .when(says('succeeded', 9, early))
      .then([{ type: 'PaymentSucceeded' }])
    given(t, paymentFold, refusedBy(unavailable))
      .when(says('succeeded', 9, { ...early, vouched: true }))
      .then([{ type: 'PaymentSucceeded' }])
  },
)

t.test('a statement without an amount is taken by its status; what is not said is not reported', async (t) => {
  const silent = { amount_cents: null, currency: null }
  given(t, paymentFold, after())
    .when(says('succeeded', 9, silent))
    .then([{ type: 'PaymentSucceeded' }])
  given(t, paymentFold, after())
    .when(says('succeeded', 9, { amount_cents: 1, currency: null }))
    .then([{ type: 'PaymentAmountMismatch', data: { reported_amount_cents: 1, reported_currency: null } }])
})

t.test('a cancellation keeps its reason, and later evidence the id that was known', async (t) => {
  given(t, paymentFold, after())
    .when(says('canceled', 9, { reason: 'abandoned' }))
    .then([{ type: 'PaymentCanceled', data: { reason: 'abandoned' } }])
  const charged = [...after(), ...says('failed', 9, { provider_payment_id: 'ch_1' })(fold(after()))]
  const later = given(t, paymentFold, charged)
    .when(says('failed', 10))
    .then([{ type: 'PaymentAttemptFailed' }])
  t.match(later, { provider_payment_id: 'ch_1' })
})

t.test('the same provider event counts once, whatever it led to', async (t) => {
  for (const status of ['pending', 'processing', 'succeeded', 'failed', 'canceled'] as const) {
    for (const history of [after(), after('failed'), after('succeeded'), after('canceled')]) {
      const state = fold(history)
      const tell = says(status, 50)
      const told = tell(state).reduce<PaymentState>(paymentFold.evolve, state)
      if (tell(state).length > 0) t.same(tell(told), [], `${status} twice`)
    }
  }
})

t.test('completed_at is set once, on entering a final status', async (t) => {
  const done = existing(fold(after('processing', 'succeeded')))
  t.equal(done.completed_at, at(21))
  const later = says('canceled', 500)(done).reduce<PaymentState>(paymentFold.evolve, done)
  t.match(later, { status: 'succeeded', completed_at: at(21), updated_at: at(21) })
  t.equal(existing(fold(after('failed'))).completed_at, null)
})

t.test('whatever a provider says in whatever order, the invariants hold', async (t) => {
  const statement = fc.record({
    status: fc.constantFrom<PaymentStatus>('pending', 'processing', 'succeeded', 'failed', 'canceled'),
    seconds: fc.integer({ min: 2, max: 60 }),
    amount_cents: fc.constantFrom(2599, 2599, 2599, 1, null),
    provider_event_id: fc.constantFrom('evt_a', 'evt_b', 'evt_c', 'evt_d', 'evt_e', 'evt_f'),
  })
  fc.assert(
    fc.property(fc.array(statement, { maxLength: 12 }), (statements) => {
      let payment: Payment = existing(fold(after()))
      for (const { status, seconds, ...more } of statements) {
        const before = payment
        const events = says(status, seconds, more)(before)
        payment = existing(events.reduce<PaymentState>(paymentFold.evolve, before))
        if (events.length > 1) return false
        if (before.status === 'succeeded' && payment.status !== 'succeeded') return false
        if (before.status === 'canceled' && payment.status !== 'canceled') return false
        if (before.completed_at !== null && payment.completed_at !== before.completed_at) return false
        if ((payment.completed_at !== null) !== ['succeeded', 'canceled'].includes(payment.status)) return false
      }
      return true
    }),
    { numRuns: 2000 },
  )
  t.pass('2,000 random stories')
})

const orders = <T>(items: readonly T[]): T[][] =>
  items.length < 2
    ? [[...items]]
    : items.flatMap((item) => orders(items.filter((other) => other !== item)).map((rest) => [item, ...rest]))
const endOf = (story: readonly (readonly [PaymentStatus, number])[]) =>
  existing(
    story.reduce<PaymentState>(
      (state, [status, seconds]) => says(status, seconds)(state).reduce<PaymentState>(paymentFold.evolve, state),
      fold(after()),
    ),
  ).status

t.test('three statements end the same in whatever order they arrive', async (t) => {
  const statuses: PaymentStatus[] = ['pending', 'processing', 'failed', 'succeeded']
  for (const first of statuses)
    for (const second of statuses)
      for (const last of statuses) {
        const ends = new Set(
          orders([
            [first, 10],
            [second, 20],
            [last, 30],
          ] as const).map(endOf),
        )
        const story = [first, second, last].join(', ')
        // A newest statement of pending is told by the provider alone: whether it may undo processing cannot be known
        // from the statements, and nobody may have asked yet.
        const isRegression = last === 'pending' && [first, second].includes('processing')
        if (isRegression && !story.includes('succeeded'))
          t.ok(
            [...ends].every((end) => end === 'pending' || end === 'processing'),
            story,
          )
        else t.same(ends.size, 1, `${story} → ${[...ends].join(' or ')}`)
      }
})

t.test('four statements in all 24 orders end in the same status', async (t) => {
  for (const story of [
    ['pending', 'processing', 'failed', 'succeeded'],
    ['pending', 'failed', 'processing', 'canceled'],
    ['processing', 'failed', 'pending', 'failed'],
  ] as const) {
    const ends = orders(story.map((status, index) => [status, 10 * (index + 1)] as const)).map(endOf)
    t.equal(ends.length, 24)
    t.equal(new Set(ends).size, 1, `${story.join(', ')} → ${[...new Set(ends)].join(' or ')}`)
  }
})
