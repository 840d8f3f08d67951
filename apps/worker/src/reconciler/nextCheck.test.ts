import { eventSamples } from '@paylog/deliveries/testing/paymentFixture'
import { type Payment, paymentFold } from '@paylog/domain/payments/payment'
import type { IntentSnapshot, Provider } from '@paylog/providers/provider'
import { createSandbox } from '@paylog/providers/sandbox/sandbox'
import type { Reconciliation } from '@paylog/workflows/payments/reconcilePayment'
import t from 'tap'
import { afterFailure, afterReconciliation, maxSnapshotAgeMs, watchedForMs } from './followUpHandler.ts'
import type { FollowUp } from './followUps.ts'
import type { CheckTimes } from './plan.ts'

const now = new Date(eventSamples.PaymentInitiated.occurred_at)
const after = (ms: number) => new Date(now.getTime() + ms)
const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const pauses = { now, reconcileAfterMs: hour }
const none = { finish: null, ask: null, watch: null }

const mute: Provider = createSandbox({ webhookSecrets: [] })
const provider: Provider = { ...mute, retrieveIntent: async () => null }
const payment = paymentFold.evolve(paymentFold.initialState, {
  type: 'PaymentInitiated',
  data: eventSamples.PaymentInitiated,
})
if (payment.status === 'none') throw new Error('no payment')
const created: Payment = { ...payment, intent_outcome: { kind: 'created' }, provider_intent_id: 'intent-1' }
const snapshot: IntentSnapshot = {
  evidence: {
    status: 'processing',
    provider_time: now.toISOString(),
    provider_event_id: null,
    provider_intent_id: 'intent-1',
    provider_payment_id: null,
    amount_cents: 2200,
    currency: 'USD',
  },
  further_charges: [],
  awaits_capture: true,
}

const followUp = (times: Partial<CheckTimes<Date>>, pauses = 1): FollowUp => ({
  subject: 'payment-1',
  payment_id: payment.payment_id,
  times: { ...none, ...times },
  pauses,
  version: 1,
  lease: 'lease-1',
  correlation_id: 'request-1',
  event_id: 'event-1',
})
const watched = followUp({ watch: now })
const reconciled = (said: Partial<Reconciliation>): Reconciliation => ({
  finding: 'same',
  status_before: 'pending',
  payment: created,
  snapshot: undefined,
  problem: undefined,
  ...said,
})

t.test('a payment that is at its end is off the list, whatever was found', async (t) => {
  for (const finding of ['same', 'late', 'conflict', 'amount_differs', 'unknown', 'unreachable'] as const)
    for (const status of ['succeeded', 'canceled'] as const) {
      const result = reconciled({ finding, payment: { ...created, status } })
      t.equal(afterReconciliation(watched, result, provider, pauses), 'over', `${finding} ${status}`)
    }
  const outcome = { kind: 'rejected', refusal: 'payment_declined', message: 'Declined' } as const
  const refused: Payment = { ...payment, status: 'failed', intent_outcome: outcome }
  t.equal(afterReconciliation(watched, reconciled({ payment: refused }), provider, pauses), 'over')
})

t.test('where nobody can be asked, a payment is off the list as soon as its intent is there', async (t) => {
  t.equal(afterReconciliation(watched, reconciled({}), mute, pauses), 'over')
  const open = afterReconciliation(watched, reconciled({ payment }), mute, pauses)
  t.strictSame(open, { times: { ...none, finish: after(10 * second) }, pauses: 1 })
})

t.test(
  'a call without a known end is looked at 10 s after the outcome became unknown, doubling to 10 min',
  async (t) => {
    let current = followUp({ finish: now })
    const pausesMs = []
    for (let look = 0; look < 9; look++) {
      const result = reconciled({ finding: 'unknown', payment: { ...payment, intent_outcome: { kind: 'unknown' } } })
      const next = afterReconciliation(current, result, provider, pauses)
      if (next === 'over') throw new Error('over')
      t.match(next.times, { ask: null, watch: null })
      pausesMs.push((next.times.finish?.getTime() ?? 0) - now.getTime())
      current = { ...current, ...next }
    }
    t.strictSame(
      pausesMs,
      [20, 40, 80, 160, 320, 600, 600, 600, 600].map((seconds) => seconds * second),
    )
  },
)

t.test('a question that waits for the end of the call is not forgotten over it', async (t) => {
  const result = reconciled({ payment })
  const next = afterReconciliation(followUp({ finish: now, ask: now }, 0), result, provider, pauses)
  t.strictSame(next, { times: { finish: after(10 * second), ask: after(10 * second), watch: null }, pauses: 1 })
})

t.test('a question that was not answered is asked 10 s later, doubling [10.2-query-backoff]', async (t) => {
  for (const finding of ['unknown', 'unreachable'] as const) {
    const atOnce = afterReconciliation(followUp({ ask: now }, 0), reconciled({ finding }), provider, pauses)
    t.strictSame(atOnce, { times: { ...none, ask: after(10 * second) }, pauses: 1 }, finding)
    const second_ = afterReconciliation(followUp({ ask: now }, 1), reconciled({ finding }), provider, pauses)
    t.strictSame(second_, { times: { ...none, ask: after(20 * second) }, pauses: 2 })
  }
})

/** Looks at a payment that nobody pays until it is off the list. @returns the ages at which it was looked at */
function watchedAges(reconcileAfterMs: number, findingOf: (look: number) => Reconciliation['finding']): number[] {
  const ages: number[] = []
  let current = followUp({ watch: after(reconcileAfterMs) })
  for (let look = 1; look < 200; look++) {
    const at = current.times.watch
    if (at === null) throw new Error('a payment that is only watched stays behind those that cannot wait')
    ages.push(at.getTime() - now.getTime())
    const result = reconciled({ finding: findingOf(look) })
    // A worker looks a moment later.
    const next = afterReconciliation(current, result, provider, { now: new Date(at.getTime() + 500), reconcileAfterMs })
    if (next === 'over') return ages
    current = { ...current, ...next }
  }
  return ages
}

t.test(
  'a payment that nobody pays is looked at at most 12 times, the last time after 90 days [10.2-unpaid]',
  async (t) => {
    for (const reconcileAfterMs of [second, minute, hour, 48 * hour])
      for (const [name, findingOf] of Object.entries({
        answered: () => 'same' as const,
        unanswered: () => 'unreachable' as const,
        'answered now and then': (look: number) => (look % 3 === 0 ? ('unknown' as const) : ('same' as const)),
      })) {
        const ages = watchedAges(reconcileAfterMs, findingOf)
        t.ok(ages.length >= 10 && ages.length <= 12, `${ages.length} looks from ${reconcileAfterMs} ms on, ${name}`)
        t.equal(ages[0], reconcileAfterMs)
        t.equal(ages.at(-1), watchedForMs)
      }
    t.same(
      watchedAges(2 * watchedForMs, () => 'same'),
      [2 * watchedForMs],
      'once when the first look is that late',
    )
  },
)

t.test('a payment that nobody pays is looked at less and less often', async (t) => {
  const hours = watchedAges(hour, () => 'same').map((age) => Math.round(age / hour))
  t.same(hours, [1, 2, 5, 10, 22, 46, 100, 216, 465, 1002, 2160])
})

t.test(
  'a look that was not answered is made again soon, and with the next one in its turn at the latest',
  async (t) => {
    const minutes = watchedAges(hour, () => 'unreachable').map((age) => Math.round(age / minute))
    t.same(minutes.slice(0, 4), [60, 80, 120, 129])
  },
)

t.test('a look that was missed is not made up for', async (t) => {
  const late = { now: after(30 * 24 * hour), reconcileAfterMs: hour }
  const next = afterReconciliation(watched, reconciled({}), provider, late)
  t.match(next, { times: { ...none, watch: after(1002 * hour + 22 * minute) } }, 'the next one is in its turn')
})

t.test('an answer may be older than the look only when nothing is known to be wrong', async (t) => {
  t.equal(maxSnapshotAgeMs(watched, pauses), minute)
  t.equal(maxSnapshotAgeMs(watched, { now, reconcileAfterMs: second }), 100)
  const ago = (ms: number) => new Date(now.getTime() - ms)
  t.equal(maxSnapshotAgeMs(followUp({ ask: ago(3 * second) }), pauses), 3 * second, 'not older than the need for it')
  t.equal(maxSnapshotAgeMs(followUp({ finish: ago(3 * second), ask: ago(second) }), pauses), second)
  t.equal(maxSnapshotAgeMs(followUp({ ask: after(second) }), pauses), 0)
})

t.test('a payment that is not paid after 90 days is off the list, unless its outcome is unknown', async (t) => {
  const then = new Date(now.getTime() + watchedForMs)
  const late = { now: new Date(then.getTime() + 1), reconcileAfterMs: hour }
  const before = { ...late, now: new Date(then.getTime() - minute) }
  t.not(afterReconciliation(watched, reconciled({}), provider, before), 'over')
  t.equal(afterReconciliation(watched, reconciled({}), provider, late), 'over')
  t.equal(afterReconciliation(watched, reconciled({ finding: 'missing' }), provider, late), 'over')
  const asked = followUp({ ask: now })
  t.not(
    afterReconciliation(asked, reconciled({ finding: 'unreachable' }), provider, late),
    'over',
    'it has to be asked',
  )
  t.not(afterReconciliation(watched, reconciled({ payment }), provider, late), 'over')
})

t.test('money that waits for us is asked for again soon, if it is the right amount', async (t) => {
  const processing = reconciled({ payment: { ...created, status: 'processing' }, snapshot })
  const soon = { times: { ...none, ask: after(10 * second) }, pauses: 1 }
  t.strictSame(afterReconciliation(followUp({ ask: now }, 0), processing, provider, pauses), soon)
  const later = { times: { ...none, watch: after(hour) }, pauses: 1 }
  const other = { ...processing, finding: 'amount_differs' } as const
  t.strictSame(afterReconciliation(followUp({ ask: now }, 0), other, provider, pauses), later)
  const declined = reconciled({ payment: { ...created, status: 'failed' }, snapshot })
  t.strictSame(afterReconciliation(followUp({ ask: now }, 0), declined, provider, pauses), later)
  const taken = { ...processing, snapshot: { ...snapshot, awaits_capture: false } }
  t.strictSame(afterReconciliation(followUp({ ask: now }, 0), taken, provider, pauses), later)
})

t.test('what broke off is tried again soon, for the same reason', async (t) => {
  const at = after(10 * second)
  t.strictSame(afterFailure(watched, pauses), { times: { ...none, ask: at }, pauses: 1 })
  t.strictSame(afterFailure(followUp({ ask: now }, 0), pauses), { times: { ...none, ask: at }, pauses: 1 })
  t.strictSame(afterFailure(followUp({ finish: now }, 0), pauses), { times: { ...none, finish: at }, pauses: 1 })
  const both = afterFailure(followUp({ finish: now, ask: now, watch: now }, 0), pauses)
  t.strictSame(both, { times: { finish: at, ask: at, watch: null }, pauses: 1 })
})
