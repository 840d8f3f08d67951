import type { Reconciliation } from '@paylog/commands/payments/reconcilePayment'
import { paymentFold } from '@paylog/domain/payments/fold'
import type { Payment } from '@paylog/domain/payments/payment'
import type { IntentSnapshot, Provider } from '@paylog/providers/provider'
import { createSandbox } from '@paylog/providers/sandbox/sandbox'
import { eventSamples } from '@paylog/webhooks/testing/paymentFixture'
import t from 'tap'
import type { FollowUp } from './followUps.ts'
import {
  afterFailure,
  afterPause,
  afterReconciliation,
  maxSnapshotAgeMs,
  watchedForMs,
  withExpiry,
} from './nextCheck.ts'
import type { CheckTimes } from './plan.ts'

const now = new Date(eventSamples.PaymentInitiated.occurred_at)
const after = (ms: number) => new Date(now.getTime() + ms)
const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const timing = { now, reconcileAfterMs: hour }
const none = { finish: null, ask: null, watch: null, expire: null }

const withoutRetrieval: Provider = createSandbox({ webhookSecrets: [] })
const provider: Provider = { ...withoutRetrieval, retrieveIntent: async () => null }
const payment = paymentFold.evolve(paymentFold.initialState, {
  type: 'PaymentInitiated',
  data: eventSamples.PaymentInitiated,
})
if (payment.status === 'none') throw new Error('no payment')
const created: Payment = { ...payment, create: { ...payment.create, outcome: 'done' }, provider_intent_id: 'intent-1' }
const snapshot: IntentSnapshot = {
  report: {
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
const reconciled = (result: Partial<Reconciliation>): Reconciliation => ({
  finding: 'same',
  status_before: 'pending',
  payment: created,
  snapshot: undefined,
  problem: undefined,
  ...result,
})

t.test('a final payment has no follow-up after any finding', async (t) => {
  for (const finding of ['same', 'late', 'conflict', 'amount_differs', 'unknown', 'unreachable'] as const)
    for (const status of ['succeeded', 'canceled'] as const) {
      const result = reconciled({ finding, payment: { ...created, status } })
      t.equal(afterReconciliation(watched, result, provider, timing), 'over', `${finding} ${status}`)
    }
  const rejection = { code: 'payment_declined', message: 'Declined' } as const
  const create = { ...payment.create, outcome: 'rejected', rejection } as const
  const rejected: Payment = { ...payment, status: 'failed', create }
  t.equal(afterReconciliation(watched, reconciled({ payment: rejected }), provider, timing), 'over')
})

t.test('without retrieveIntent a payment has no follow-up once its intent exists', async (t) => {
  t.equal(afterReconciliation(watched, reconciled({}), withoutRetrieval, timing), 'over')
  const open = afterReconciliation(watched, reconciled({ payment }), withoutRetrieval, timing)
  t.strictSame(open, { times: { ...none, finish: after(10 * second) }, pauses: 1 })
})

t.test('an unknown outcome is checked after pauses of 10 s to 10 min, each a quarter longer', async (t) => {
  let current = followUp({ finish: now }, 0)
  const pausesMs: number[] = []
  for (let look = 0; look < 22; look++) {
    const result = reconciled({
      finding: 'unknown',
      payment: { ...payment, create: { ...payment.create, outcome: 'unknown' } },
    })
    const next = afterReconciliation(current, result, provider, timing)
    if (next === 'over') throw new Error('over')
    t.match(next.times, { ask: null, watch: null, expire: null })
    pausesMs.push((next.times.finish?.getTime() ?? 0) - now.getTime())
    current = { ...current, ...next }
  }
  t.strictSame(pausesMs.slice(0, 4), [10_000, 12_500, 15_625, 19_531])
  t.strictSame(pausesMs.slice(-3), [10 * minute, 10 * minute, 10 * minute])
  // The campaign of faults gives a system 30 s after an outage of up to a minute.
  const delays = pausesMs.filter((_, look) => pausesMs.slice(0, look).reduce((sum, ms) => sum + ms, 10_000) < minute)
  t.ok(
    delays.every((ms) => ms < 30 * second),
    'soon after an outage of a minute',
  )
})

t.test('a pending query survives the end of the create call', async (t) => {
  const result = reconciled({ payment })
  const next = afterReconciliation(followUp({ finish: now, ask: now }, 0), result, provider, timing)
  t.strictSame(next, {
    times: { finish: after(10 * second), ask: after(10 * second), watch: null, expire: null },
    pauses: 1,
  })
})

t.test(
  'a query without a response is repeated after 10 s, and then later and later [10.2-query-backoff]',
  async (t) => {
    for (const finding of ['unknown', 'unreachable'] as const) {
      const atOnce = afterReconciliation(followUp({ ask: now }, 0), reconciled({ finding }), provider, timing)
      t.strictSame(atOnce, { times: { ...none, ask: after(10 * second) }, pauses: 1 }, finding)
      const second_ = afterReconciliation(followUp({ ask: now }, 1), reconciled({ finding }), provider, timing)
      t.strictSame(second_, { times: { ...none, ask: after(12.5 * second) }, pauses: 2 })
    }
  },
)

/** Looks at an unpaid payment until its follow-up is over. @returns the payment's age at each look */
function watchedAges(reconcileAfterMs: number, findingOf: (look: number) => Reconciliation['finding']): number[] {
  const ages: number[] = []
  let current = followUp({ watch: after(reconcileAfterMs) })
  for (let look = 1; look < 200; look++) {
    const { watch: at, ask } = current.times
    if (at === null || ask !== null) throw new Error('Not a watched follow-up')
    ages.push(at.getTime() - now.getTime())
    const result = reconciled({ finding: findingOf(look) })
    // A worker looks a little later than planned.
    const next = afterReconciliation(current, result, provider, { now: new Date(at.getTime() + 500), reconcileAfterMs })
    if (next === 'over') return ages
    current = { ...current, ...next }
  }
  return ages
}

t.test('an unpaid payment is looked at no more than 12 times, the last time after 90 days [10.2-unpaid]', async (t) => {
  for (const reconcileAfterMs of [second, minute, hour, 48 * hour])
    for (const [name, findingOf] of Object.entries({
      withResponse: () => 'same' as const,
      withoutResponse: () => 'unreachable' as const,
      'occasional responses': (look: number) => (look % 3 === 0 ? ('unknown' as const) : ('same' as const)),
    })) {
      const ages = watchedAges(reconcileAfterMs, findingOf)
      t.ok(ages.length >= 10 && ages.length <= 12, `${ages.length} looks from ${reconcileAfterMs} ms on, ${name}`)
      t.equal(ages[0], reconcileAfterMs)
      t.equal(ages.at(-1), watchedForMs)
    }
  t.same(
    watchedAges(2 * watchedForMs, () => 'same'),
    [2 * watchedForMs],
    'only one look when the first one is after 90 days',
  )
})

t.test('looks at an unpaid payment become less frequent', async (t) => {
  const hours = watchedAges(hour, () => 'same').map((age) => Math.round(age / hour))
  t.same(hours, [1, 2, 5, 10, 22, 46, 100, 216, 465, 1002, 2160])
})

t.test('a look without a response is repeated soon, and no later than the next scheduled look', async (t) => {
  const minutes = watchedAges(hour, () => 'unreachable').map((age) => Math.round(age / minute))
  t.same(minutes.slice(0, 4), [60, 80, 120, 129])
})

t.test('a missed look is not made up for', async (t) => {
  const late = { now: after(30 * 24 * hour), reconcileAfterMs: hour }
  const next = afterReconciliation(watched, reconciled({}), provider, late)
  t.match(
    next,
    { times: { ...none, watch: after(1002 * hour + 22 * minute), expire: null } },
    'the next look is the scheduled one',
  )
})

t.test('only watched follow-ups may use an older snapshot', async (t) => {
  t.equal(maxSnapshotAgeMs(watched, timing), minute)
  t.equal(maxSnapshotAgeMs(watched, { now, reconcileAfterMs: second }), 100)
  const ago = (ms: number) => new Date(now.getTime() - ms)
  t.equal(maxSnapshotAgeMs(followUp({ ask: ago(3 * second) }), timing), 3 * second, 'not older than the due time')
  t.equal(maxSnapshotAgeMs(followUp({ finish: ago(3 * second), ask: ago(second) }), timing), second)
  t.equal(maxSnapshotAgeMs(followUp({ ask: after(second) }), timing), 0)
})

t.test('a payment unpaid for 90 days has no follow-up, unless its outcome is unknown', async (t) => {
  const then = new Date(now.getTime() + watchedForMs)
  const late = { now: new Date(then.getTime() + 1), reconcileAfterMs: hour }
  const before = { ...late, now: new Date(then.getTime() - minute) }
  t.not(afterReconciliation(watched, reconciled({}), provider, before), 'over')
  t.equal(afterReconciliation(watched, reconciled({}), provider, late), 'over')
  t.equal(afterReconciliation(watched, reconciled({ finding: 'missing' }), provider, late), 'over')
  const pendingQuery = followUp({ ask: now })
  t.not(
    afterReconciliation(pendingQuery, reconciled({ finding: 'unreachable' }), provider, late),
    'over',
    'a pending query stays',
  )
  t.not(afterReconciliation(watched, reconciled({ payment }), provider, late), 'over')
})

t.test('a capture that is still needed is tried again soon, if the amount matches', async (t) => {
  const processing = reconciled({ payment: { ...created, status: 'processing' }, snapshot })
  const soon = { times: { ...none, ask: after(10 * second) }, pauses: 1 }
  t.strictSame(afterReconciliation(followUp({ ask: now }, 0), processing, provider, timing), soon)
  const later = { times: { ...none, watch: after(hour), expire: null }, pauses: 1 }
  const other = { ...processing, finding: 'amount_differs' } as const
  t.strictSame(afterReconciliation(followUp({ ask: now }, 0), other, provider, timing), later)
  const declined = reconciled({ payment: { ...created, status: 'failed' }, snapshot })
  t.strictSame(afterReconciliation(followUp({ ask: now }, 0), declined, provider, timing), later)
  const taken = { ...processing, snapshot: { ...snapshot, awaits_capture: false } }
  t.strictSame(afterReconciliation(followUp({ ask: now }, 0), taken, provider, timing), later)
})

t.test('a failed follow-up is repeated soon for the same need', async (t) => {
  const at = after(10 * second)
  t.strictSame(afterFailure(watched, timing), { times: { ...none, ask: at }, pauses: 1 })
  t.strictSame(afterFailure(followUp({ ask: now }, 0), timing), { times: { ...none, ask: at }, pauses: 1 })
  t.strictSame(afterFailure(followUp({ finish: now }, 0), timing), { times: { ...none, finish: at }, pauses: 1 })
  const both = afterFailure(followUp({ finish: now, ask: now, watch: now }, 0), timing)
  t.strictSame(both, { times: { finish: at, ask: at, watch: null, expire: null }, pauses: 1 })
})

t.test('a payment that can still be paid keeps the time at which it expires', async (t) => {
  const later = after(60 * 60 * second)
  const expiring = { ...created, expires_at: later.toISOString() }
  const next = { times: { ...none, ask: after(second) }, pauses: 1 }
  t.strictSame(withExpiry(next, expiring, now), { times: { ...next.times, expire: later }, pauses: 1 })
  t.strictSame(withExpiry('over', expiring, now), { times: { ...none, expire: later }, pauses: 0 })
  t.strictSame(withExpiry('over', created, now), 'over', 'one that never expires')
  t.strictSame(withExpiry('over', { ...expiring, status: 'canceled' }, now), 'over')
  const expired = { ...created, expires_at: now.toISOString() }
  t.strictSame(withExpiry('over', expired, now), { times: { ...none, expire: after(600 * second) }, pauses: 0 })
})

t.test('a paid payment whose refunds were only counted is asked about until the provider responds', (t) => {
  const counted: Payment = { ...created, status: 'succeeded', has_unread_refunds: true }
  const lookAfter = (finding: Reconciliation['finding']) =>
    afterReconciliation(followUp({ ask: now }), reconciled({ payment: counted, finding }), provider, timing)
  t.match(lookAfter('unreachable'), { times: { ask: Date } })
  t.equal(lookAfter('same'), 'over')
  t.end()
})

t.test('what the provider throttled comes back after its pause, behind what was not called', async (t) => {
  const urgent = followUp({ finish: now, expire: after(hour) }, 2)
  const next = { times: { ...none, watch: after(hour) }, pauses: 3 }
  const paused = { next, pausedMs: 30 * second, wasThrottled: false }
  const times = { ...urgent.times, finish: after(30 * second) }
  t.strictSame(afterPause(urgent, paused, timing), { times, pauses: 2 })
  const throttled = { ...paused, wasThrottled: true }
  const later = after(30 * second + 10 * second * 1.25 ** 2)
  t.strictSame(afterPause(urgent, throttled, timing), { times: { ...times, finish: later }, pauses: 3 })
  t.strictSame(afterPause(watched, throttled, timing), next, 'a look that found nothing out')
  t.strictSame(afterPause(urgent, { ...throttled, next: 'over' }, timing), 'over')
})
