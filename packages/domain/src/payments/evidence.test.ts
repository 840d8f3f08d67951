import { given, matchList } from '@paylog/testing/assertions'
import t from 'tap'
import type { RecordEvidence } from './evidence.ts'
import { existingPayment, type PaymentStatus, paymentFold } from './payment.ts'
import {
  applyTo,
  at,
  declined,
  eventsAfter,
  fold,
  initiated,
  notifies,
  rejectedBy,
  snapshots,
  unavailable,
} from './testing/paymentFixture.ts'

type Source = NonNullable<RecordEvidence['source']>
type Age = 'older' | 'same' | 'newer'

const statuses = ['pending', 'processing', 'succeeded', 'failed', 'canceled'] as const

/** The event of each word below, and the status that it leads to; what is missing leaves the status as it is. */
const events: Readonly<Record<string, readonly [type: string, to?: PaymentStatus]>> = {
  pending: ['PaymentActionRequired', 'pending'],
  processing: ['PaymentProcessingStarted', 'processing'],
  succeeded: ['PaymentSucceeded', 'succeeded'],
  failed: ['PaymentAttemptFailed', 'failed'],
  canceled: ['PaymentCanceled', 'canceled'],
  conflict: ['PaymentConflictDetected'],
  stale: ['ProviderEventIgnored'],
  tie: ['ProviderEventIgnored'],
  regression: ['ProviderEventIgnored'],
  final: ['ProviderEventIgnored'],
}

const ends = {
  succeeded: 'final final - final final',
  canceled: 'final final conflict final -',
}
const newer = {
  pending: 'pending processing succeeded failed canceled',
  processing: 'regression processing succeeded failed canceled',
  failed: 'pending processing succeeded failed canceled',
  ...ends,
}
const older = {
  pending: 'stale stale succeeded stale canceled',
  processing: 'stale stale succeeded stale canceled',
  failed: 'stale stale succeeded stale canceled',
  ...ends,
}
const tied = {
  pending: '- tie succeeded tie canceled',
  processing: 'tie - succeeded tie canceled',
  failed: 'tie tie succeeded - canceled',
  ...ends,
}
const truth = {
  pending: '- processing succeeded failed canceled',
  processing: 'pending - succeeded failed canceled',
  failed: 'pending processing succeeded - canceled',
  ...ends,
}

/** What follows when a payment of the status of the row is told each of `statuses` in turn; `-` is nothing. */
const table: Readonly<Record<Source, Readonly<Record<Age, Readonly<Record<PaymentStatus, string>>>>>> = {
  notification: { older, same: newer, newer },
  askable_notification: { older, same: tied, newer },
  snapshot: { older: truth, same: truth, newer: truth },
}

const seconds: Readonly<Record<Age, number>> = { older: 9, same: 10, newer: 11 }

for (const source of ['notification', 'askable_notification', 'snapshot'] as const)
  t.test(`the status machine: every status against every ${source} [3-transitions]`, async (t) => {
    for (const age of ['older', 'same', 'newer'] as const)
      for (const from of statuses) {
        const before = existingPayment(fold(eventsAfter(from)))
        t.equal(before.status, from)
        const row = table[source][age][from].split(' ')
        for (const [index, reported] of statuses.entries()) {
          const word = row[index] ?? ''
          const [type, to = from] = events[word] ?? []
          const decide = notifies(reported, seconds[age], { source })
          const followed = decide(before).map((event) =>
            event.type === 'ProviderEventIgnored' ? `${event.type} ${event.data.reason}` : event.type,
          )
          const expected = type === 'ProviderEventIgnored' ? `${type} ${word}` : type
          const story = `${from} is told ${reported}, ${age}`
          t.strictSame(followed, expected === undefined ? [] : [expected], story)
          t.equal(applyTo(before, decide).status, to, `${story}: ${to}`)
        }
      }
  })

t.test('the first statement is newer than none, whatever its time', async (t) => {
  for (const source of ['notification', 'askable_notification'] as const)
    for (const status of statuses)
      t.equal(applyTo(existingPayment(fold(eventsAfter())), notifies(status, -1000, { source })).status, status)
  matchList(t, notifies('pending', 1)(fold(eventsAfter())), [{ type: 'PaymentActionRequired' }])
  t.same(snapshots('pending', 1)(fold(eventsAfter())), [], 'an intent that nobody has paid yet is no news')
})

t.test('a statement that counts whatever its time is leaves the newest time as it is', async (t) => {
  const failedAt10 = existingPayment(fold(eventsAfter('failed')))
  t.equal(applyTo(failedAt10, snapshots('pending', 4)).evidence_time, at(10))
  t.equal(applyTo(failedAt10, snapshots('pending', 14)).evidence_time, at(14))
  t.equal(applyTo(failedAt10, notifies('succeeded', 4)).evidence_time, at(10))
})

t.test('a time in whole seconds says nothing about the order within its second', async (t) => {
  const asked = { source: 'askable_notification', provider_event_id: 'evt_fine' } as const
  const processing = fold(eventsAfter('processing'))
  const fine = (ms: number) => new Date(Date.parse(at(10)) + ms).toISOString()
  const failed = (ms: number) => notifies('failed', 10, { ...asked, provider_time: fine(ms) })(processing)
  matchList(t, failed(900), [{ type: 'ProviderEventIgnored', data: { reason: 'tie' } }])
  matchList(t, failed(1_000), [{ type: 'PaymentAttemptFailed' }])
  matchList(t, failed(-1), [{ type: 'ProviderEventIgnored', data: { reason: 'stale' } }])
  const precise = fold([
    ...eventsAfter(),
    ...notifies('processing', 10, { provider_time: fine(500) })(fold(eventsAfter())),
  ])
  const told = (ms: number) => notifies('failed', 10, { ...asked, provider_time: fine(ms) })(precise)
  matchList(t, told(400), [{ type: 'ProviderEventIgnored', data: { reason: 'stale' } }])
  matchList(t, told(600), [{ type: 'PaymentAttemptFailed' }])
})

t.test('a regression makes older statements stale, and a tie does not', async (t) => {
  const processing = existingPayment(fold(eventsAfter('processing')))
  const regressed = applyTo(processing, notifies('pending', 20))
  matchList(t, notifies('failed', 15)(regressed), [{ type: 'ProviderEventIgnored', data: { reason: 'stale' } }])
  const askable = { source: 'askable_notification' } as const
  const tied = applyTo(processing, notifies('failed', 10, askable))
  matchList(t, notifies('failed', 11, askable)(tied), [{ type: 'PaymentAttemptFailed' }])
})

t.test('a success over another amount or currency is not a success [3-amount-mismatch]', async (t) => {
  for (const history of [eventsAfter(), eventsAfter('processing'), eventsAfter('failed')]) {
    const before = existingPayment(fold(history))
    matchList(t, notifies('succeeded', 99, { amount_cents: 2598 })(before), [
      {
        type: 'PaymentAmountMismatch',
        data: { reported_amount_cents: 2598, reported_currency: 'EUR', amount_cents: 2599 },
      },
    ])
    matchList(t, notifies('succeeded', 99, { currency: 'usd' })(before), [{ type: 'PaymentAmountMismatch' }])
    matchList(t, snapshots('succeeded', 99, { currency: 'usd' })(before), [{ type: 'PaymentAmountMismatch' }])
    const { status, evidence_time } = before
    t.match(applyTo(before, notifies('succeeded', 99, { currency: 'usd' })), {
      status,
      evidence_time,
      completed_at: null,
    })
  }
})

t.test('an amount that turns out to be another one after the success is recorded, and the payment stays', async (t) => {
  const silent = { amount_cents: null, currency: null }
  const succeeded = applyTo(existingPayment(fold(eventsAfter())), notifies('succeeded', 9, silent))
  matchList(t, snapshots('succeeded', 20, { amount_cents: 1 })(succeeded), [{ type: 'PaymentAmountMismatch' }])
  t.equal(applyTo(succeeded, snapshots('succeeded', 20, { amount_cents: 1 })).status, 'succeeded')
  t.same(snapshots('succeeded', 20)(succeeded), [])
})

t.test('only a success is held against the amount', async (t) => {
  for (const status of ['processing', 'failed', 'canceled'] as const)
    t.equal(applyTo(existingPayment(fold(eventsAfter())), notifies(status, 9, { amount_cents: 1 })).status, status)
})

t.test('a statement without an amount is taken by its status; what is not said is not reported', async (t) => {
  given(t, paymentFold, eventsAfter())
    .when(notifies('succeeded', 9, { amount_cents: null, currency: null }))
    .then([{ type: 'PaymentSucceeded' }])
  given(t, paymentFold, eventsAfter())
    .when(notifies('succeeded', 9, { amount_cents: 1, currency: null }))
    .then([{ type: 'PaymentAmountMismatch', data: { reported_amount_cents: 1, reported_currency: null } }])
  given(t, paymentFold, eventsAfter())
    .when(notifies('succeeded', 9, { amount_cents: null, currency: 'usd' }))
    .then([{ type: 'PaymentAmountMismatch', data: { reported_amount_cents: null, reported_currency: 'USD' } }])
})

t.test('a statement about another intent changes nothing', async (t) => {
  const foreign = { provider_intent_id: 'pi_other' }
  const isIgnored = [{ type: 'ProviderEventIgnored' as const, data: { reason: 'foreign_intent' as const } }]
  for (const history of [
    eventsAfter(),
    eventsAfter('failed'),
    eventsAfter('succeeded'),
    rejectedBy(declined),
    rejectedBy(unavailable),
  ])
    for (const status of statuses)
      given(t, paymentFold, history)
        .when(notifies(status, 90, foreign))
        .then(isIgnored)
  // Not even our own pointer makes the intent of a lost attempt the payment's.
  given(t, paymentFold, eventsAfter())
    .when(notifies('succeeded', 90, { ...foreign, is_own_intent: true }))
    .then(isIgnored)
})

t.test(
  'while the intent is not known, a statement counts that our records vouch for, or that may be about it',
  async (t) => {
    const early = { provider_intent_id: 'pi_1' }
    given(t, paymentFold, initiated)
      .when(notifies('succeeded', 9, early))
      .then([{ type: 'PaymentSucceeded' }])
    given(t, paymentFold, rejectedBy(unavailable))
      .when(notifies('succeeded', 9, { ...early, is_own_intent: true }))
      .then([{ type: 'PaymentSucceeded' }])
  },
)

t.test('a statement that names no intent is about the payment that it was led to', async (t) => {
  for (const history of [initiated, eventsAfter(), eventsAfter('failed'), rejectedBy(unavailable)])
    given(t, paymentFold, history)
      .when(notifies('succeeded', 99, { provider_intent_id: null }))
      .then([{ type: 'PaymentSucceeded' }])
})

t.test('a cancellation keeps its reason, and later evidence the id that was known', async (t) => {
  given(t, paymentFold, eventsAfter())
    .when(notifies('canceled', 9, { reason: 'abandoned' }))
    .then([{ type: 'PaymentCanceled', data: { reason: 'abandoned' } }])
  given(t, paymentFold, eventsAfter())
    .when(notifies('canceled', 9))
    .then([{ type: 'PaymentCanceled', data: { reason: null } }])
  const charged = [...eventsAfter(), ...notifies('failed', 9, { provider_payment_id: 'ch_1' })(fold(eventsAfter()))]
  const later = given(t, paymentFold, charged)
    .when(notifies('failed', 10))
    .then([{ type: 'PaymentAttemptFailed' }])
  t.match(later, { provider_payment_id: 'ch_1' })
})

t.test("a failure keeps the provider's words, and has some where there are none", async (t) => {
  given(t, paymentFold, eventsAfter())
    .when(notifies('failed', 9, { failure_code: 'expired_card', failure_message: 'The card has expired' }))
    .then([
      {
        type: 'PaymentAttemptFailed',
        data: { failure_code: 'expired_card', failure_message: 'The card has expired', refusal: null },
      },
    ])
  given(t, paymentFold, eventsAfter())
    .when(notifies('failed', 9))
    .then([{ type: 'PaymentAttemptFailed', data: { failure_code: 'failed' } }])
})

t.test('the same provider event counts once, whatever it led to', async (t) => {
  for (const source of ['notification', 'askable_notification'] as const)
    for (const status of statuses)
      for (const history of [initiated, eventsAfter(), ...statuses.map((from) => eventsAfter(from))])
        for (const more of [
          {},
          { provider_intent_id: 'pi_other' },
          { amount_cents: 1 },
          { provider_payment_id: 'ch' },
        ]) {
          const tellIt = notifies(status, 10, { ...more, source })
          t.same(tellIt(applyTo(existingPayment(fold(history)), tellIt)), [], `${status} twice`)
        }
})

t.test('completed_at is set once, on entering a final status [2.1-completed-at]', async (t) => {
  const done = existingPayment(fold(eventsAfter('processing', 'succeeded')))
  t.equal(done.completed_at, at(21))
  t.match(applyTo(done, notifies('canceled', 500)), { status: 'succeeded', completed_at: at(21), updated_at: at(21) })
  t.match(applyTo(existingPayment(fold(eventsAfter('canceled'))), notifies('succeeded', 500)), {
    status: 'canceled',
    completed_at: at(11),
  })
  for (const status of ['pending', 'processing', 'failed'] as const)
    t.equal(existingPayment(fold(eventsAfter(status))).completed_at, null)
})

t.test('nothing can be said about a payment that is not there', async (t) => {
  t.throws(() => notifies('succeeded', 1)({ status: 'none' }), { code: 'not_found' })
})
