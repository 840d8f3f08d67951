import { given, matchList } from '@paylog/testing/assertions'
import t from 'tap'
import { paymentFold } from './fold.ts'
import { existingPayment, type Payment, type PaymentState } from './payment.ts'
import { applyTo, at, eventsAfter, fold, notifies, snapshots } from './testing/paymentFixture.ts'

const created = () => existingPayment(fold(eventsAfter()))
const queryable = { source: 'queryable_notification' } as const
const ch_1 = { provider_payment_id: 'ch_1' }
const ch_2 = { provider_payment_id: 'ch_2' }
const foldOf = (events: ReturnType<ReturnType<typeof notifies>>, before: Payment) =>
  existingPayment(events.reduce<PaymentState>(paymentFold.evolve, before))
const failuresOf = ({ failures, failed_charges }: Payment) => [failures, failed_charges]

t.test('a snapshot with the recorded status and charge records nothing', async (t) => {
  for (const status of ['pending', 'processing', 'failed', 'succeeded', 'canceled'] as const)
    for (const applyFirst of [notifies(status, 10, ch_1), snapshots(status, 10, ch_1)]) {
      const before = applyTo(created(), applyFirst)
      for (const seconds of [5, 10, 15]) t.same(snapshots(status, seconds, ch_1)(before), [], `${status} at ${seconds}`)
      t.same(snapshots(status, 20)(before), [], `${status} without the charge`)
    }
})

t.test('a snapshot that contradicts a final status is recorded once', async (t) => {
  for (const final of ['succeeded', 'canceled'] as const)
    for (const status of ['pending', 'processing', 'failed', 'succeeded', 'canceled'] as const) {
      if (status === final) continue
      const before = applyTo(created(), notifies(final, 10))
      const first = snapshots(status, 20)(before)
      t.equal(first.length, 1)
      t.same(snapshots(status, 30)(foldOf(first, before)), [], `second snapshot ${status} of a ${final} payment`)
    }
})

t.test(
  'a snapshot does not repeat a contradiction that a notification reported, but records another one',
  async (t) => {
    const contradicted = applyTo(applyTo(created(), notifies('succeeded', 10, ch_1)), notifies('failed', 20))
    t.same(snapshots('failed', 30)(contradicted), [])
    matchList(t, snapshots('canceled', 30)(contradicted), [{ type: 'ProviderEventIgnored', data: { reason: 'final' } }])
    matchList(
      t,
      notifies('failed', 30)(contradicted),
      [{ type: 'ProviderEventIgnored' }],
      'a further notification is recorded',
    )
  },
)

t.test('a stale report does not suppress the same report when it later contradicts a final status', async (t) => {
  const late = applyTo(applyTo(created(), notifies('processing', 10)), notifies('failed', 5))
  const succeeded = applyTo(late, notifies('succeeded', 20))
  matchList(t, snapshots('failed', 30)(succeeded), [{ type: 'ProviderEventIgnored', data: { reason: 'final' } }])
})

t.test('an amount mismatch is recorded once per charge and amount, from notifications and snapshots', async (t) => {
  const wrong = { amount_cents: 1, ...ch_1 }
  const mismatched = applyTo(created(), notifies('succeeded', 10, wrong))
  t.same(snapshots('succeeded', 20, wrong)(mismatched), [])
  t.same(notifies('succeeded', 20, wrong)(mismatched), [])
  for (const more of [{ amount_cents: 2 }, { currency: 'usd' }, ch_2])
    matchList(t, snapshots('succeeded', 20, { ...wrong, ...more })(mismatched), [{ type: 'PaymentAmountMismatch' }])
  matchList(t, notifies('succeeded', 20, ch_1)(mismatched), [{ type: 'PaymentSucceeded' }], 'the right amount succeeds')
})

t.test('a second successful charge is a conflict, recorded once for each charge', async (t) => {
  const paid = applyTo(created(), notifies('succeeded', 10, ch_1))
  for (const reports of [notifies, snapshots]) {
    const doubled = given(t, paymentFold, [...eventsAfter(), ...notifies('succeeded', 10, ch_1)(created())])
      .when(reports('succeeded', 5, ch_2))
      .then([{ type: 'PaymentConflictDetected', data: { reported_status: 'succeeded', provider_payment_id: 'ch_2' } }])
    t.match(doubled, { status: 'succeeded', provider_payment_id: 'ch_1', completed_at: at(11) })
    t.same(notifies('succeeded', 20, ch_2)(doubled), [])
    t.same(snapshots('succeeded', 20, ch_2)(doubled), [])
    matchList(t, reports('succeeded', 20, { provider_payment_id: 'ch_3' })(doubled), [
      { type: 'PaymentConflictDetected' },
    ])
  }
  t.same(notifies('succeeded', 20, ch_1)(paid), [], 'the same charge')
  t.same(notifies('succeeded', 20)(paid), [], 'a report without a charge id')
  matchList(t, snapshots('succeeded', 20, { ...ch_2, amount_cents: 1 })(paid), [{ type: 'PaymentConflictDetected' }])
})

t.test('money for a canceled payment is a conflict, recorded once for each charge', async (t) => {
  const canceled = applyTo(created(), notifies('canceled', 10))
  const first = notifies('succeeded', 20, ch_1)(canceled)
  matchList(t, first, [{ type: 'PaymentConflictDetected' }])
  t.same(snapshots('succeeded', 30, ch_1)(foldOf(first, canceled)), [])
  matchList(t, snapshots('succeeded', 30, ch_2)(foldOf(first, canceled)), [{ type: 'PaymentConflictDetected' }])
})

t.test('a success without a charge id does not conflict with a later charge after a failed one', async (t) => {
  const paid = applyTo(applyTo(created(), notifies('failed', 10, ch_1)), notifies('succeeded', 20))
  t.same(snapshots('succeeded', 30, ch_2)(paid), [])
})

t.test('the failure of a charge counts once when it is reported repeatedly', async (t) => {
  const first = { ...queryable, ...ch_1 }
  for (const applyFirst of [notifies('failed', 10, first), snapshots('failed', 10, ch_1)]) {
    const failed = applyTo(created(), applyFirst)
    for (const seconds of [5, 10, 15]) {
      t.same(notifies('failed', seconds, first)(failed), [], `notification again at ${seconds}`)
      t.same(snapshots('failed', seconds, ch_1)(failed), [], `snapshot again at ${seconds}`)
    }
    t.same(failuresOf(failed), [1, ['ch_1']])
  }
})

t.test('a failure reported again after another attempt started is a tie, which a snapshot decides', async (t) => {
  const first = { ...queryable, ...ch_1 }
  const again = applyTo(applyTo(created(), notifies('failed', 10, first)), notifies('processing', 20, queryable))
  matchList(t, notifies('failed', 15, first)(again), [{ type: 'ProviderEventIgnored', data: { reason: 'stale' } }])
  matchList(t, notifies('failed', 25, first)(again), [{ type: 'ProviderEventIgnored', data: { reason: 'tie' } }])
  matchList(t, notifies('failed', 25, { ...queryable, ...ch_2 })(again), [{ type: 'PaymentAttemptFailed' }])
  t.same(snapshots('processing', 30)(applyTo(again, notifies('failed', 25, first))), [], 'still processing')
  matchList(t, snapshots('failed', 30, ch_1)(again), [{ type: 'PaymentAttemptFailed' }], 'failed by the same charge')
  matchList(
    t,
    notifies('failed', 25, ch_1)(again),
    [{ type: 'PaymentAttemptFailed' }],
    'from a provider that cannot be queried',
  )
})

t.test('failures of two charges count as two', async (t) => {
  const failed = applyTo(created(), notifies('failed', 10, { ...queryable, ...ch_1 }))
  for (const seconds of [10, 15])
    matchList(t, notifies('failed', seconds, { ...queryable, ...ch_2 })(failed), [{ type: 'PaymentAttemptFailed' }])
  matchList(t, snapshots('failed', 15, ch_2)(failed), [{ type: 'PaymentAttemptFailed' }], 'the notification was lost')
  t.same(failuresOf(applyTo(failed, snapshots('failed', 15, ch_2))), [2, ['ch_1', 'ch_2']])
  matchList(t, notifies('failed', 5, { ...queryable, ...ch_2 })(failed), [{ type: 'ProviderEventIgnored' }], 'stale')
})

t.test('failures without a charge are distinguished by their provider time', async (t) => {
  const failed = applyTo(created(), notifies('failed', 10, queryable))
  t.same(notifies('failed', 10, queryable)(failed), [])
  matchList(t, notifies('failed', 11, queryable)(failed), [{ type: 'PaymentAttemptFailed' }])
  t.same(failuresOf(applyTo(failed, notifies('failed', 11, queryable))), [2, []])
})

t.test('an approval counts once, even when it is stale, and a report with a charge is no approval', async (t) => {
  const first = notifies('processing', 10, queryable)
  const approved = applyTo(applyTo(created(), first), first)
  t.equal(approved.approvals_reported, 1)
  const failed = applyTo(approved, notifies('failed', 20, queryable))
  for (const seconds of [15, 20, 25])
    t.equal(applyTo(failed, notifies('processing', seconds, queryable)).approvals_reported, 2)
  const others = [
    { ...queryable, ...ch_1 },
    { ...queryable, provider_intent_id: 'pi_other' },
  ]
  for (const other of others) t.equal(applyTo(failed, notifies('processing', 20, other)).approvals_reported, 1)
  t.equal(applyTo(failed, snapshots('processing', 25)).approvals_reported, 1, 'a snapshot is no approval')
})
