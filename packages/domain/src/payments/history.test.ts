import fc from 'fast-check'
import t from 'tap'
import { Compile } from 'typebox/compile'
import type { PaymentEvent } from './events.ts'
import { eventsUntil, HistoryEntry, paymentHistory, type RecordedPaymentEvent } from './history.ts'
import { existingPayment } from './payment.ts'
import { paymentSteps } from './testing/paymentArbitraries.ts'
import { at, eventsAfter, fold, initiated } from './testing/paymentFixture.ts'

/** Adds revisions, positions and metadata as the log would, between events of other streams. */
const recorded = (events: readonly PaymentEvent[]): RecordedPaymentEvent[] =>
  events.map((event, index) => ({
    ...event,
    revision: BigInt(index),
    position: { commit: 9_007_199_254_740_993n + BigInt(index * 7) },
    metadata: { correlationId: `c-${index}`, causationId: `k-${index}`, actor: `actor-${index}` },
  }))
const moved = (event: PaymentEvent, occurred_at: string) =>
  ({ ...event, data: { ...event.data, occurred_at } }) as PaymentEvent

t.test(
  'a history entry has position, revision, type, time, actor, ids, status and data, in this order [10.2-history-entries]',
  async (t) => {
    const events = recorded(eventsAfter('processing', 'succeeded'))
    const history = paymentHistory(events)
    t.same(
      history.map(({ type, revision, status_after }) => [type, revision, status_after]),
      [
        ['PaymentInitiated', 0, 'pending'],
        ['ProviderIntentCreated', 1, 'pending'],
        ['PaymentProcessingStarted', 2, 'processing'],
        ['PaymentSucceeded', 3, 'succeeded'],
      ],
    )
    t.equal(
      JSON.stringify(history[2]),
      JSON.stringify({
        position: '9007199254741007',
        revision: 2,
        type: 'PaymentProcessingStarted',
        occurred_at: at(11),
        actor: 'actor-2',
        correlation_id: 'c-2',
        causation_id: 'k-2',
        status_after: 'processing',
        data: events[2]?.data,
      }),
    )
  },
)

t.test('a history without PaymentInitiated is not_found, and an empty one is empty', async (t) => {
  t.same(paymentHistory([]), [])
  t.throws(() => paymentHistory(recorded(eventsAfter('succeeded').slice(1))), { code: 'not_found' })
})

t.test('eventsUntil includes events at exactly the given time, in any UTC offset', async (t) => {
  const [first, second, third] = eventsAfter('succeeded')
  if (!first || !second || !third) throw new Error('expected three events')
  const events = [first, moved(second, '2026-01-01T01:00:01+01:00'), moved(third, '2025-12-31T23:30:02.000-00:30')]
  const until = (time: string) => eventsUntil(events, Date.parse(time)).length
  t.equal(until('2025-12-31T23:59:59.999Z'), 0)
  t.equal(until('2026-01-01T00:00:00Z'), 1)
  t.equal(until('2026-01-01T00:00:00.999Z'), 1)
  t.equal(until('2026-01-01T00:00:01Z'), 2)
  t.equal(until('2026-01-01T00:00:02Z'), 3)
  t.equal(eventsUntil(events, Number.POSITIVE_INFINITY), events)
})

t.test('eventsUntil excludes an event with an earlier time that follows an excluded event', async (t) => {
  const [first, second, third] = eventsAfter('succeeded')
  if (!first || !second || !third) throw new Error('expected three events')
  const events = [first, moved(second, at(20)), moved(third, at(10))]
  const until = (seconds: number) => eventsUntil(events, Date.parse(at(seconds))).map(({ type }) => type)
  t.same(until(10), ['PaymentInitiated'])
  t.same(until(19), ['PaymentInitiated'])
  t.same(until(20), ['PaymentInitiated', 'ProviderIntentCreated', 'PaymentSucceeded'])
})

t.test('for random histories, eventsUntil returns the longest prefix without later events', async (t) => {
  const isEntry = Compile(HistoryEntry)
  fc.assert(
    fc.property(fc.array(paymentSteps, { maxLength: 20 }), (steps) => {
      const events = [...initiated]
      for (const { decide } of steps) events.push(...decide(fold(events)))
      const times = events.map(({ data }) => Date.parse(data.occurred_at))
      for (const time of times.flatMap((each) => [each - 1, each])) {
        const past = eventsUntil(events, time)
        if (past.some((event, index) => event !== events[index])) throw new Error('not a prefix')
        if (times.slice(0, past.length).some((each) => each > time)) throw new Error('too long')
        if (past.length < events.length && !((times[past.length] ?? 0) > time)) throw new Error('too short')
      }
      const history = paymentHistory(recorded(events))
      if (!history.every((entry) => isEntry.Check(entry))) throw new Error('an entry does not fit its schema')
      for (const [index, entry] of history.entries()) {
        if (entry.status_after !== existingPayment(fold(events.slice(0, index + 1))).status)
          throw new Error('wrong status_after')
      }
    }),
    { numRuns: 2_000 },
  )
  t.pass('2,000 random histories')
})
