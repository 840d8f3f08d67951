import { given, matchList } from '@paylog/testing/assertions'
import t from 'tap'
import { paymentFold } from './fold.ts'
import { existingPayment, type PaymentStatus } from './payment.ts'
import type { RecordStatus } from './statusReports.ts'
import {
  afterCreateFailed,
  applyTo,
  at,
  eventsAfter,
  failures,
  fold,
  initiated,
  notifies,
  snapshots,
} from './testing/paymentFixture.ts'

type Source = NonNullable<RecordStatus['source']>
type Age = 'older' | 'same' | 'newer'

const statuses = ['pending', 'processing', 'succeeded', 'failed', 'canceled'] as const

/** The event for each word in the tables below, and the new status if it changes. */
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
const snapshot = {
  pending: '- processing succeeded failed canceled',
  processing: 'pending - succeeded failed canceled',
  failed: 'pending processing succeeded - canceled',
  ...ends,
}

/** The result for a payment in the status of the row, for a report of each of `statuses`; `-` is no event. */
const table: Readonly<Record<Source, Readonly<Record<Age, Readonly<Record<PaymentStatus, string>>>>>> = {
  notification: { older, same: newer, newer },
  queryable_notification: { older, same: tied, newer },
  snapshot: { older: snapshot, same: snapshot, newer: snapshot },
}

const seconds: Readonly<Record<Age, number>> = { older: 9, same: 10, newer: 11 }

for (const source of ['notification', 'queryable_notification', 'snapshot'] as const)
  t.test(`payment statuses change as specified after reports with source ${source} [3-transitions]`, async (t) => {
    for (const age of ['older', 'same', 'newer'] as const)
      for (const from of statuses) {
        const before = existingPayment(fold(eventsAfter(from)))
        t.equal(before.status, from)
        const row = table[source][age][from].split(' ')
        for (const [index, reported] of statuses.entries()) {
          const word = row[index] ?? ''
          const [type, to = from] = events[word] ?? []
          const decide = notifies(reported, seconds[age], { source })
          const recorded = decide(before).map((event) =>
            event.type === 'ProviderEventIgnored' ? `${event.type} ${event.data.reason}` : event.type,
          )
          const expected = type === 'ProviderEventIgnored' ? `${type} ${word}` : type
          const name = `${from} payment, ${age} report ${reported}`
          t.strictSame(recorded, expected === undefined ? [] : [expected], name)
          t.equal(applyTo(before, decide).status, to, `${name}: ${to}`)
        }
      }
  })

t.test('the first report about a payment is applied regardless of its time', async (t) => {
  for (const source of ['notification', 'queryable_notification'] as const)
    for (const status of statuses)
      t.equal(applyTo(existingPayment(fold(eventsAfter())), notifies(status, -1000, { source })).status, status)
  matchList(t, notifies('pending', 1)(fold(eventsAfter())), [{ type: 'PaymentActionRequired' }])
  t.same(snapshots('pending', 1)(fold(eventsAfter())), [], 'a pending snapshot of a new payment records nothing')
})

t.test('a report that is applied despite its older time does not change report_time', async (t) => {
  const failedAt10 = existingPayment(fold(eventsAfter('failed')))
  t.equal(applyTo(failedAt10, snapshots('pending', 4)).report_time, at(10))
  t.equal(applyTo(failedAt10, snapshots('pending', 14)).report_time, at(14))
  t.equal(applyTo(failedAt10, notifies('succeeded', 4)).report_time, at(10))
})

t.test('a time in whole seconds does not decide the order within that second', async (t) => {
  const queryable = { source: 'queryable_notification', provider_event_id: 'evt_fine' } as const
  const processing = fold(eventsAfter('processing'))
  const fine = (ms: number) => new Date(Date.parse(at(10)) + ms).toISOString()
  const failed = (ms: number) => notifies('failed', 10, { ...queryable, provider_time: fine(ms) })(processing)
  matchList(t, failed(900), [{ type: 'ProviderEventIgnored', data: { reason: 'tie' } }])
  matchList(t, failed(1_000), [{ type: 'PaymentAttemptFailed' }])
  matchList(t, failed(-1), [{ type: 'ProviderEventIgnored', data: { reason: 'stale' } }])
  const precise = fold([
    ...eventsAfter(),
    ...notifies('processing', 10, { provider_time: fine(500) })(fold(eventsAfter())),
  ])
  const failedAfterPrecise = (ms: number) => notifies('failed', 10, { ...queryable, provider_time: fine(ms) })(precise)
  matchList(t, failedAfterPrecise(400), [{ type: 'ProviderEventIgnored', data: { reason: 'stale' } }])
  matchList(t, failedAfterPrecise(600), [{ type: 'PaymentAttemptFailed' }])
})

t.test('a regression makes older reports stale, and a tie does not', async (t) => {
  const processing = existingPayment(fold(eventsAfter('processing')))
  const regressed = applyTo(processing, notifies('pending', 20))
  matchList(t, notifies('failed', 15)(regressed), [{ type: 'ProviderEventIgnored', data: { reason: 'stale' } }])
  const queryable = { source: 'queryable_notification' } as const
  const tied = applyTo(processing, notifies('failed', 10, queryable))
  matchList(t, notifies('failed', 11, queryable)(tied), [{ type: 'PaymentAttemptFailed' }])
})

t.test(
  'a success with another amount or currency is a mismatch, and the status stays [3-amount-mismatch]',
  async (t) => {
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
      const { status, report_time } = before
      t.match(applyTo(before, notifies('succeeded', 99, { currency: 'usd' })), {
        status,
        report_time,
        completed_at: null,
      })
    }
  },
)

t.test('a wrong amount reported after the success is recorded, and the payment stays succeeded', async (t) => {
  const withoutAmount = { amount_cents: null, currency: null }
  const succeeded = applyTo(existingPayment(fold(eventsAfter())), notifies('succeeded', 9, withoutAmount))
  matchList(t, snapshots('succeeded', 20, { amount_cents: 1 })(succeeded), [{ type: 'PaymentAmountMismatch' }])
  t.equal(applyTo(succeeded, snapshots('succeeded', 20, { amount_cents: 1 })).status, 'succeeded')
  t.same(snapshots('succeeded', 20)(succeeded), [])
})

t.test('the amount of a report is compared only for a success', async (t) => {
  for (const status of ['processing', 'failed', 'canceled'] as const)
    t.equal(applyTo(existingPayment(fold(eventsAfter())), notifies(status, 9, { amount_cents: 1 })).status, status)
})

t.test('a missing amount or currency of a success is not compared', async (t) => {
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

t.test('a report about another intent is recorded as ignored', async (t) => {
  const foreign = { provider_intent_id: 'pi_other' }
  const isIgnored = [{ type: 'ProviderEventIgnored' as const, data: { reason: 'foreign_intent' as const } }]
  for (const history of [
    eventsAfter(),
    eventsAfter('failed'),
    eventsAfter('succeeded'),
    afterCreateFailed(failures.declined),
    afterCreateFailed(failures.unavailable),
  ])
    for (const status of statuses)
      given(t, paymentFold, history)
        .when(notifies(status, 90, foreign))
        .then(isIgnored)
})

t.test('before the intent is recorded, a report counts if the create call may have made its intent', async (t) => {
  given(t, paymentFold, initiated)
    .when(notifies('succeeded', 9, { provider_intent_id: 'pi_1' }))
    .then([{ type: 'PaymentSucceeded' }])
})

t.test('a report without an intent is applied to the payment that it was matched to', async (t) => {
  for (const history of [initiated, eventsAfter(), eventsAfter('failed'), afterCreateFailed(failures.unavailable)])
    given(t, paymentFold, history)
      .when(notifies('succeeded', 99, { provider_intent_id: null }))
      .then([{ type: 'PaymentSucceeded' }])
})

t.test('a cancellation keeps its reason, and a report without a charge keeps the recorded charge id', async (t) => {
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

t.test("a failure keeps the provider's code and message, and has a default code without them", async (t) => {
  given(t, paymentFold, eventsAfter())
    .when(notifies('failed', 9, { failure_code: 'expired_card', failure_message: 'The card has expired' }))
    .then([
      {
        type: 'PaymentAttemptFailed',
        data: { failure_code: 'expired_card', failure_message: 'The card has expired' },
      },
    ])
  given(t, paymentFold, eventsAfter())
    .when(notifies('failed', 9))
    .then([{ type: 'PaymentAttemptFailed', data: { failure_code: 'failed' } }])
})

t.test('a repeated provider event records nothing', async (t) => {
  for (const source of ['notification', 'queryable_notification'] as const)
    for (const status of statuses)
      for (const history of [initiated, eventsAfter(), ...statuses.map((from) => eventsAfter(from))])
        for (const more of [
          {},
          { provider_intent_id: 'pi_other' },
          { amount_cents: 1 },
          { provider_payment_id: 'ch' },
        ]) {
          const apply = notifies(status, 10, { ...more, source })
          t.same(apply(applyTo(existingPayment(fold(history)), apply)), [], `${status} twice`)
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

t.test('a report about a payment that does not exist is not_found', async (t) => {
  t.throws(() => notifies('succeeded', 1)({ status: 'none' }), { code: 'not_found' })
})
