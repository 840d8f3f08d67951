import { given } from '@paylog/testing/givenWhenThen'
import { matchList } from '@paylog/testing/matchList'
import t from 'tap'
import { existing, type Payment, type PaymentState, paymentFold } from './payment.ts'
import { after, at, fold, says, shows, tell } from './testing/testStory.ts'

const created = () => existing(fold(after()))
const askable = { source: 'askable_notification' } as const
const ch_1 = { provider_payment_id: 'ch_1' }
const ch_2 = { provider_payment_id: 'ch_2' }
const foldOf = (events: ReturnType<ReturnType<typeof says>>, before: Payment) =>
  existing(events.reduce<PaymentState>(paymentFold.evolve, before))
const failuresOf = ({ failures, failed_charges }: Payment) => [failures, failed_charges]

t.test('a snapshot that says nothing new records nothing, however often it is asked for', async (t) => {
  for (const status of ['pending', 'processing', 'failed', 'succeeded', 'canceled'] as const)
    for (const heardFirst of [says(status, 10, ch_1), shows(status, 10, ch_1)]) {
      const before = tell(created(), heardFirst)
      for (const seconds of [5, 10, 15]) t.same(shows(status, seconds, ch_1)(before), [], `${status} at ${seconds}`)
      t.same(shows(status, 20)(before), [], `${status} without the charge`)
    }
})

t.test('a snapshot that contradicts a final status is recorded once', async (t) => {
  for (const final of ['succeeded', 'canceled'] as const)
    for (const status of ['pending', 'processing', 'failed', 'succeeded', 'canceled'] as const) {
      if (status === final) continue
      const before = tell(created(), says(final, 10))
      const first = shows(status, 20)(before)
      t.equal(first.length, 1)
      t.same(shows(status, 30)(foldOf(first, before)), [], `${final} is shown ${status} twice`)
    }
})

t.test(
  'a snapshot tells nothing that a notification told before; another contradiction is another record',
  async (t) => {
    const contradicted = tell(tell(created(), says('succeeded', 10, ch_1)), says('failed', 20))
    t.same(shows('failed', 30)(contradicted), [])
    matchList(t, shows('canceled', 30)(contradicted), [{ type: 'ProviderEventIgnored', data: { reason: 'final' } }])
    matchList(
      t,
      says('failed', 30)(contradicted),
      [{ type: 'ProviderEventIgnored' }],
      'what comes by itself is recorded',
    )
  },
)

t.test('that something was late once does not hide that it contradicts what is final', async (t) => {
  const late = tell(tell(created(), says('processing', 10)), says('failed', 5))
  const succeeded = tell(late, says('succeeded', 20))
  matchList(t, shows('failed', 30)(succeeded), [{ type: 'ProviderEventIgnored', data: { reason: 'final' } }])
})

t.test('another amount is recorded once for each charge and amount, whoever tells of it', async (t) => {
  const wrong = { amount_cents: 1, ...ch_1 }
  const mismatched = tell(created(), says('succeeded', 10, wrong))
  t.same(shows('succeeded', 20, wrong)(mismatched), [])
  t.same(says('succeeded', 20, wrong)(mismatched), [])
  for (const more of [{ amount_cents: 2 }, { currency: 'usd' }, ch_2])
    matchList(t, shows('succeeded', 20, { ...wrong, ...more })(mismatched), [{ type: 'PaymentAmountMismatch' }])
  matchList(t, says('succeeded', 20, ch_1)(mismatched), [{ type: 'PaymentSucceeded' }], 'and the right amount is paid')
})

t.test('a second successful charge is a conflict, recorded once for each charge', async (t) => {
  const paid = tell(created(), says('succeeded', 10, ch_1))
  for (const hear of [says, shows]) {
    const doubled = given(t, paymentFold, [...after(), ...says('succeeded', 10, ch_1)(created())])
      .when(hear('succeeded', 5, ch_2))
      .then([{ type: 'PaymentConflictDetected', data: { reported_status: 'succeeded', provider_payment_id: 'ch_2' } }])
    t.match(doubled, { status: 'succeeded', provider_payment_id: 'ch_1', completed_at: at(11) })
    t.same(says('succeeded', 20, ch_2)(doubled), [])
    t.same(shows('succeeded', 20, ch_2)(doubled), [])
    matchList(t, hear('succeeded', 20, { provider_payment_id: 'ch_3' })(doubled), [{ type: 'PaymentConflictDetected' }])
  }
  t.same(says('succeeded', 20, ch_1)(paid), [], 'the same charge')
  t.same(says('succeeded', 20)(paid), [], 'a charge that is not named')
  matchList(t, shows('succeeded', 20, { ...ch_2, amount_cents: 1 })(paid), [{ type: 'PaymentConflictDetected' }])
})

t.test('money for a canceled payment is a conflict, recorded once for each charge', async (t) => {
  const canceled = tell(created(), says('canceled', 10))
  const first = says('succeeded', 20, ch_1)(canceled)
  matchList(t, first, [{ type: 'PaymentConflictDetected' }])
  t.same(shows('succeeded', 30, ch_1)(foldOf(first, canceled)), [])
  matchList(t, shows('succeeded', 30, ch_2)(foldOf(first, canceled)), [{ type: 'PaymentConflictDetected' }])
})

t.test('the charge of a failed attempt is not taken for the one that succeeded', async (t) => {
  const paid = tell(tell(created(), says('failed', 10, ch_1)), says('succeeded', 20))
  t.same(shows('succeeded', 30, ch_2)(paid), [])
})

t.test('a failure of one charge is one failure, however often and by whomever it is told', async (t) => {
  const first = { ...askable, ...ch_1 }
  for (const heardFirst of [says('failed', 10, first), shows('failed', 10, ch_1)]) {
    const failed = tell(created(), heardFirst)
    for (const seconds of [5, 10, 15]) {
      t.same(says('failed', seconds, first)(failed), [], `told again at ${seconds}`)
      t.same(shows('failed', seconds, ch_1)(failed), [], `shown again at ${seconds}`)
    }
    t.same(failuresOf(failed), [1, ['ch_1']])
  }
})

t.test('when a failure is told again after another attempt has begun, the provider is asked', async (t) => {
  const first = { ...askable, ...ch_1 }
  const again = tell(tell(created(), says('failed', 10, first)), says('processing', 20, askable))
  matchList(t, says('failed', 15, first)(again), [{ type: 'ProviderEventIgnored', data: { reason: 'stale' } }])
  matchList(t, says('failed', 25, first)(again), [{ type: 'ProviderEventIgnored', data: { reason: 'tie' } }])
  matchList(t, says('failed', 25, { ...askable, ...ch_2 })(again), [{ type: 'PaymentAttemptFailed' }])
  t.same(shows('processing', 30)(tell(again, says('failed', 25, first))), [], 'it still goes on')
  matchList(
    t,
    shows('failed', 30, ch_1)(again),
    [{ type: 'PaymentAttemptFailed' }],
    'or it has failed by the same charge',
  )
  matchList(t, says('failed', 25, ch_1)(again), [{ type: 'PaymentAttemptFailed' }], 'where nobody can be asked')
})

t.test('two failed attempts are two failures', async (t) => {
  const failed = tell(created(), says('failed', 10, { ...askable, ...ch_1 }))
  for (const seconds of [10, 15])
    matchList(t, says('failed', seconds, { ...askable, ...ch_2 })(failed), [{ type: 'PaymentAttemptFailed' }])
  matchList(t, shows('failed', 15, ch_2)(failed), [{ type: 'PaymentAttemptFailed' }], 'the notification was lost')
  t.same(failuresOf(tell(failed, shows('failed', 15, ch_2))), [2, ['ch_1', 'ch_2']])
  matchList(t, says('failed', 5, { ...askable, ...ch_2 })(failed), [{ type: 'ProviderEventIgnored' }], 'stale')
})

t.test('failures without a charge are told apart by their time', async (t) => {
  const failed = tell(created(), says('failed', 10, askable))
  t.same(says('failed', 10, askable)(failed), [])
  matchList(t, says('failed', 11, askable)(failed), [{ type: 'PaymentAttemptFailed' }])
  t.same(failuresOf(tell(failed, says('failed', 11, askable))), [2, []])
})

t.test('an approval is counted once, whether it counts or comes too late, and a charge is none', async (t) => {
  const first = says('processing', 10, askable)
  const approved = tell(tell(created(), first), first)
  t.equal(approved.approvals_told, 1)
  const failed = tell(approved, says('failed', 20, askable))
  for (const seconds of [15, 20, 25]) t.equal(tell(failed, says('processing', seconds, askable)).approvals_told, 2)
  const others = [
    { ...askable, ...ch_1 },
    { ...askable, provider_intent_id: 'pi_other' },
  ]
  for (const other of others) t.equal(tell(failed, says('processing', 20, other)).approvals_told, 1)
  t.equal(tell(failed, shows('processing', 25)).approvals_told, 1, 'nor is what is there when the provider is asked')
})
