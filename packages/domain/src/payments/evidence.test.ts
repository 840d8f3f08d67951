import { given } from '@paylog/testing/givenWhenThen'
import fc from 'fast-check'
import t from 'tap'
import { existing, type Payment, type PaymentState, paymentFold } from './payment.ts'
import type { PaymentStatus } from './status.ts'
import { after, at, declined, fold, initiated, refusedBy, says, unavailable } from './testStory.ts'

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
