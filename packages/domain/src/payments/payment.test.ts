import { given } from '@paylog/testing/givenWhenThen'
import fc from 'fast-check'
import t from 'tap'
import type { PaymentEvent } from './events.ts'
import { type Evidence, recordEvidence } from './evidence.ts'
import {
  existing,
  initiatePayment,
  recordIntentCreated,
  recordIntentRefused,
  recordOutcomeUnknown,
} from './initiate.ts'
import { noPayment, type Payment, type PaymentState, paymentFold } from './payment.ts'
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
const says = (status: PaymentStatus, seconds: number, more: Partial<Evidence> = {}) => {
  const evidence: Evidence = {
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

t.test('a refused create call fails the payment, and a later one may open it again', async (t) => {
  const refuse = { occurred_at: at(2), attempt: 1, code: 'provider_unavailable', message: 'down', retryable: true }
  const state = given(t, paymentFold, initiated)
    .when((state) => recordIntentRefused(refuse, state))
    .then([{ type: 'PaymentAttemptFailed', data: { retryable: true } }])
  t.match(state, { status: 'failed', completed_at: null, intent_outcome: { kind: 'refused', retryable: true } })
  const again = recordIntentCreated(
    { occurred_at: at(3), attempt: 2, provider_intent_id: 'pi_9', client_secret: 'secret' },
    state,
  )
  t.match(again.reduce(paymentFold.evolve, state), { status: 'pending', attempt: 2, provider_intent_id: 'pi_9' })
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
      processing: ['', 'processing'],
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
  t.match(says('succeeded', 9, { provider_intent_id: 'pi_other' })(fold(after())), [
    { type: 'ProviderEventIgnored', data: { reason: 'foreign_intent' } },
  ])
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

t.test('four statements in all 24 orders end in the same status', async (t) => {
  const stories: [PaymentStatus, number][][] = [
    [
      ['pending', 10],
      ['processing', 20],
      ['failed', 30],
      ['succeeded', 40],
    ],
    [
      ['pending', 10],
      ['failed', 20],
      ['processing', 30],
      ['canceled', 40],
    ],
    [
      ['processing', 10],
      ['failed', 20],
      ['pending', 30],
      ['failed', 40],
    ],
  ]
  const orders = <T>(items: T[]): T[][] =>
    items.length < 2
      ? [items]
      : items.flatMap((item) => orders(items.filter((other) => other !== item)).map((rest) => [item, ...rest]))
  for (const story of stories) {
    const ends = orders(story).map(
      (order) =>
        existing(
          order.reduce<PaymentState>(
            (state, [status, seconds]) => says(status, seconds)(state).reduce<PaymentState>(paymentFold.evolve, state),
            fold(after()),
          ),
        ).status,
    )
    t.equal(ends.length, 24)
    t.equal(new Set(ends).size, 1, `${story.map(([status]) => status).join(', ')} → ${[...new Set(ends)].join(' or ')}`)
  }
})
