import fc from 'fast-check'
import t from 'tap'
import { Compile } from 'typebox/compile'
import type { PaymentEvent } from './events.ts'
import { eventsUntil, HistoryEntry, paymentHistory, type RecordedPaymentEvent } from './history.ts'
import { existingPayment } from './payment.ts'
import { paymentSteps } from './testing/paymentArbitraries.ts'
import { at, eventsAfter, fold, initiated } from './testing/paymentFixture.ts'

/** As the log would have recorded them, between events of others. */
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
  'an entry tells where, what, when, who, why, and what the payment was after it, in this order [10.2-history-entries]',
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

t.test('a payment has a beginning', async (t) => {
  t.same(paymentHistory([]), [])
  t.throws(() => paymentHistory(recorded(eventsAfter('succeeded').slice(1))), { code: 'not_found' })
})

t.test('what occurred at a time had happened by then, whatever the offset it is written in', async (t) => {
  const [first, second, third] = eventsAfter('succeeded')
  if (!first || !second || !third) throw new Error('a story of three events')
  const events = [first, moved(second, '2026-01-01T01:00:01+01:00'), moved(third, '2025-12-31T23:30:02.000-00:30')]
  const until = (time: string) => eventsUntil(events, Date.parse(time)).length
  t.equal(until('2025-12-31T23:59:59.999Z'), 0)
  t.equal(until('2026-01-01T00:00:00Z'), 1)
  t.equal(until('2026-01-01T00:00:00.999Z'), 1)
  t.equal(until('2026-01-01T00:00:01Z'), 2)
  t.equal(until('2026-01-01T00:00:02Z'), 3)
  t.equal(eventsUntil(events, Number.POSITIVE_INFINITY), events)
})

t.test('an event that occurred before the one in front of it had not happened before that one', async (t) => {
  const [first, second, third] = eventsAfter('succeeded')
  if (!first || !second || !third) throw new Error('a story of three events')
  const events = [first, moved(second, at(20)), moved(third, at(10))]
  const until = (seconds: number) => eventsUntil(events, Date.parse(at(seconds))).map(({ type }) => type)
  t.same(until(10), ['PaymentInitiated'])
  t.same(until(19), ['PaymentInitiated'])
  t.same(until(20), ['PaymentInitiated', 'ProviderIntentCreated', 'PaymentSucceeded'])
})

t.test('at every time of every random story, the past is a prefix that is as long as can be', async (t) => {
  const isEntry = Compile(HistoryEntry)
  fc.assert(
    fc.property(fc.array(paymentSteps, { maxLength: 20 }), (story) => {
      const events = [...initiated]
      for (const { decide } of story) events.push(...decide(fold(events)))
      const times = events.map(({ data }) => Date.parse(data.occurred_at))
      for (const time of times.flatMap((each) => [each - 1, each])) {
        const past = eventsUntil(events, time)
        if (past.some((event, index) => event !== events[index])) throw new Error('no prefix')
        if (times.slice(0, past.length).some((each) => each > time)) throw new Error('too long')
        if (past.length < events.length && !((times[past.length] ?? 0) > time)) throw new Error('too short')
      }
      const history = paymentHistory(recorded(events))
      if (!history.every((entry) => isEntry.Check(entry))) throw new Error('an entry does not fit its schema')
      for (const [index, entry] of history.entries()) {
        if (entry.status_after !== existingPayment(fold(events.slice(0, index + 1))).status)
          throw new Error('another status')
      }
    }),
    { numRuns: 2_000 },
  )
  t.pass('2,000 random stories')
})
