import { given, matchList } from '@paylog/testing/assertions'
import t from 'tap'
import { existingPayment, type Payment, type PaymentState, paymentFold } from './payment.ts'
import { applyTo, at, eventsAfter, fold, notifies, snapshots } from './testing/paymentFixture.ts'

const created = () => existingPayment(fold(eventsAfter()))
const askableSource = { source: 'askable_notification' } as const
const ch_1 = { provider_payment_id: 'ch_1' }
const ch_2 = { provider_payment_id: 'ch_2' }
const foldOf = (events: ReturnType<ReturnType<typeof notifies>>, before: Payment) =>
  existingPayment(events.reduce<PaymentState>(paymentFold.evolve, before))
const failuresOf = ({ failures, failed_charges }: Payment) => [failures, failed_charges]

t.test('a snapshot that says nothing new records nothing, however often it is asked for', async (t) => {
  for (const status of ['pending', 'processing', 'failed', 'succeeded', 'canceled'] as const)
    for (const heardFirst of [notifies(status, 10, ch_1), snapshots(status, 10, ch_1)]) {
      const before = applyTo(created(), heardFirst)
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
      t.same(snapshots(status, 30)(foldOf(first, before)), [], `${final} is shown ${status} twice`)
    }
})

t.test(
  'a snapshot tells nothing that a notification told before; another contradiction is another record',
  async (t) => {
    const contradicted = applyTo(applyTo(created(), notifies('succeeded', 10, ch_1)), notifies('failed', 20))
    t.same(snapshots('failed', 30)(contradicted), [])
    matchList(t, snapshots('canceled', 30)(contradicted), [{ type: 'ProviderEventIgnored', data: { reason: 'final' } }])
    matchList(
      t,
      notifies('failed', 30)(contradicted),
      [{ type: 'ProviderEventIgnored' }],
      'what comes by itself is recorded',
    )
  },
)

t.test('that something was late once does not hide that it contradicts what is final', async (t) => {
  const late = applyTo(applyTo(created(), notifies('processing', 10)), notifies('failed', 5))
  const succeeded = applyTo(late, notifies('succeeded', 20))
  matchList(t, snapshots('failed', 30)(succeeded), [{ type: 'ProviderEventIgnored', data: { reason: 'final' } }])
})

t.test('another amount is recorded once for each charge and amount, whoever tells of it', async (t) => {
  const wrong = { amount_cents: 1, ...ch_1 }
  const mismatched = applyTo(created(), notifies('succeeded', 10, wrong))
  t.same(snapshots('succeeded', 20, wrong)(mismatched), [])
  t.same(notifies('succeeded', 20, wrong)(mismatched), [])
  for (const more of [{ amount_cents: 2 }, { currency: 'usd' }, ch_2])
    matchList(t, snapshots('succeeded', 20, { ...wrong, ...more })(mismatched), [{ type: 'PaymentAmountMismatch' }])
  matchList(
    t,
    notifies('succeeded', 20, ch_1)(mismatched),
    [{ type: 'PaymentSucceeded' }],
    'and the right amount is paid',
  )
})

t.test('a second successful charge is a conflict, recorded once for each charge', async (t) => {
  const paid = applyTo(created(), notifies('succeeded', 10, ch_1))
  for (const hear of [notifies, snapshots]) {
    const doubled = given(t, paymentFold, [...eventsAfter(), ...notifies('succeeded', 10, ch_1)(created())])
      .when(hear('succeeded', 5, ch_2))
      .then([{ type: 'PaymentConflictDetected', data: { reported_status: 'succeeded', provider_payment_id: 'ch_2' } }])
    t.match(doubled, { status: 'succeeded', provider_payment_id: 'ch_1', completed_at: at(11) })
    t.same(notifies('succeeded', 20, ch_2)(doubled), [])
    t.same(snapshots('succeeded', 20, ch_2)(doubled), [])
    matchList(t, hear('succeeded', 20, { provider_payment_id: 'ch_3' })(doubled), [{ type: 'PaymentConflictDetected' }])
  }
  t.same(notifies('succeeded', 20, ch_1)(paid), [], 'the same charge')
  t.same(notifies('succeeded', 20)(paid), [], 'a charge that is not named')
  matchList(t, snapshots('succeeded', 20, { ...ch_2, amount_cents: 1 })(paid), [{ type: 'PaymentConflictDetected' }])
})

t.test('money for a canceled payment is a conflict, recorded once for each charge', async (t) => {
  const canceled = applyTo(created(), notifies('canceled', 10))
  const first = notifies('succeeded', 20, ch_1)(canceled)
  matchList(t, first, [{ type: 'PaymentConflictDetected' }])
  t.same(snapshots('succeeded', 30, ch_1)(foldOf(first, canceled)), [])
  matchList(t, snapshots('succeeded', 30, ch_2)(foldOf(first, canceled)), [{ type: 'PaymentConflictDetected' }])
})

t.test('the charge of a failed attempt is not taken for the one that succeeded', async (t) => {
  const paid = applyTo(applyTo(created(), notifies('failed', 10, ch_1)), notifies('succeeded', 20))
  t.same(snapshots('succeeded', 30, ch_2)(paid), [])
})

t.test('a failure of one charge is one failure, however often and by whomever it is told', async (t) => {
  const first = { ...askableSource, ...ch_1 }
  for (const heardFirst of [notifies('failed', 10, first), snapshots('failed', 10, ch_1)]) {
    const failed = applyTo(created(), heardFirst)
    for (const seconds of [5, 10, 15]) {
      t.same(notifies('failed', seconds, first)(failed), [], `told again at ${seconds}`)
      t.same(snapshots('failed', seconds, ch_1)(failed), [], `shown again at ${seconds}`)
    }
    t.same(failuresOf(failed), [1, ['ch_1']])
  }
})

t.test('when a failure is told again after another attempt has begun, the provider is asked', async (t) => {
  const first = { ...askableSource, ...ch_1 }
  const again = applyTo(applyTo(created(), notifies('failed', 10, first)), notifies('processing', 20, askableSource))
  matchList(t, notifies('failed', 15, first)(again), [{ type: 'ProviderEventIgnored', data: { reason: 'stale' } }])
  matchList(t, notifies('failed', 25, first)(again), [{ type: 'ProviderEventIgnored', data: { reason: 'tie' } }])
  matchList(t, notifies('failed', 25, { ...askableSource, ...ch_2 })(again), [{ type: 'PaymentAttemptFailed' }])
  t.same(snapshots('processing', 30)(applyTo(again, notifies('failed', 25, first))), [], 'it still goes on')
  matchList(
    t,
    snapshots('failed', 30, ch_1)(again),
    [{ type: 'PaymentAttemptFailed' }],
    'or it has failed by the same charge',
  )
  matchList(t, notifies('failed', 25, ch_1)(again), [{ type: 'PaymentAttemptFailed' }], 'where nobody can be asked')
})

t.test('two failed attempts are two failures', async (t) => {
  const failed = applyTo(created(), notifies('failed', 10, { ...askableSource, ...ch_1 }))
  for (const seconds of [10, 15])
    matchList(t, notifies('failed', seconds, { ...askableSource, ...ch_2 })(failed), [{ type: 'PaymentAttemptFailed' }])
  matchList(t, snapshots('failed', 15, ch_2)(failed), [{ type: 'PaymentAttemptFailed' }], 'the notification was lost')
  t.same(failuresOf(applyTo(failed, snapshots('failed', 15, ch_2))), [2, ['ch_1', 'ch_2']])
  matchList(
    t,
    notifies('failed', 5, { ...askableSource, ...ch_2 })(failed),
    [{ type: 'ProviderEventIgnored' }],
    'stale',
  )
})

t.test('failures without a charge are told apart by their time', async (t) => {
  const failed = applyTo(created(), notifies('failed', 10, askableSource))
  t.same(notifies('failed', 10, askableSource)(failed), [])
  matchList(t, notifies('failed', 11, askableSource)(failed), [{ type: 'PaymentAttemptFailed' }])
  t.same(failuresOf(applyTo(failed, notifies('failed', 11, askableSource))), [2, []])
})

t.test('an approval is counted once, whether it counts or comes too late, and a charge is none', async (t) => {
  const first = notifies('processing', 10, askableSource)
  const approved = applyTo(applyTo(created(), first), first)
  t.equal(approved.approvals_reported, 1)
  const failed = applyTo(approved, notifies('failed', 20, askableSource))
  for (const seconds of [15, 20, 25])
    t.equal(applyTo(failed, notifies('processing', seconds, askableSource)).approvals_reported, 2)
  const others = [
    { ...askableSource, ...ch_1 },
    { ...askableSource, provider_intent_id: 'pi_other' },
  ]
  for (const other of others) t.equal(applyTo(failed, notifies('processing', 20, other)).approvals_reported, 1)
  t.equal(
    applyTo(failed, snapshots('processing', 25)).approvals_reported,
    1,
    'nor is what is there when the provider is asked',
  )
})
