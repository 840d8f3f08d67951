import fc from 'fast-check'
import t from 'tap'
import { Compile } from 'typebox/compile'
import { type PaymentEvent, paymentEvents } from './events.ts'
import type { RecordEvidence } from './evidence.ts'
import { recordIntentCreated, recordIntentRefused, recordOutcomeUnknown, startAttempt } from './initiate.ts'
import { recordDispute, recordRefund } from './moneyBack.ts'
import { isNotice, noticeOf } from './notices.ts'
import { existing, type Payment, type PaymentState } from './payment.ts'
import { isAbsorbing, type PaymentStatus } from './status.ts'
import { at, fold, initiated, says } from './testStory.ts'

type Step = {
  /** What may make the payment fail, if this does at all. */
  readonly reports: PaymentStatus | 'refused' | 'nothing'
  readonly decide: (state: PaymentState) => PaymentEvent[]
}

const seconds = fc.integer({ min: 0, max: 30 })
const source = fc.record({
  provider_event_id: fc.constantFrom('evt_a', 'evt_b', 'evt_c', 'evt_d', 'evt_e', 'evt_f'),
  provider_intent_id: fc.constantFrom('pi_1', 'pi_1', 'pi_1', 'pi_other', null),
  provider_payment_id: fc.constantFrom('ch_1', 'ch_2', null),
  vouched: fc.boolean(),
})
const statement = fc.record({
  status: fc.constantFrom<PaymentStatus>('pending', 'processing', 'succeeded', 'failed', 'canceled'),
  seconds,
  from: source,
  amount_cents: fc.constantFrom(2599, 2599, 2599, 1, null),
  currency: fc.constantFrom('eur', 'EUR', 'usd', null),
  how: fc.constantFrom<NonNullable<RecordEvidence['source']>>('notification', 'askable_notification', 'snapshot'),
})
const refusal = fc.constantFrom(
  'payment_declined' as const,
  'provider_rejected' as const,
  'currency_not_supported' as const,
  'provider_unavailable' as const,
)
const attempt = fc.integer({ min: 1, max: 2 })

const stated: fc.Arbitrary<Step> = statement.map(({ status, seconds, from, amount_cents, currency, how }) => ({
  reports: status,
  decide: says(status, seconds, {
    ...from,
    amount_cents,
    currency,
    source: how,
    ...(how === 'snapshot' && { provider_event_id: null }),
  }),
}))
const call = <Command extends object>(
  reports: Step['reports'],
  decide: (command: Command & { occurred_at: string }, state: PaymentState) => PaymentEvent[],
  command: fc.Arbitrary<Command>,
): fc.Arbitrary<Step> =>
  fc.tuple(seconds, command).map(([seconds, given]) => ({
    reports,
    decide: (state) => decide({ ...given, occurred_at: at(seconds) }, state),
  }))
const heard = source.map((from) => ({ ...from, provider_time: at(5) }))
const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: stated },
  call(
    'nothing',
    recordIntentCreated,
    fc.record({ attempt, provider_intent_id: fc.constant('pi_1'), client_secret: fc.constant(null) }),
  ),
  call('nothing', recordOutcomeUnknown, fc.record({ attempt, reason: fc.constant('timeout') })),
  call(
    'refused',
    recordIntentRefused,
    fc.record({ attempt, refusal, code: fc.constant('no'), message: fc.constant('no') }),
  ),
  call('nothing', startAttempt, fc.constant({})),
  call(
    'nothing',
    recordRefund,
    heard.map((from) => ({ ...from, refund_id: 're_1', refunded_cents: 5 })),
  ),
  call(
    'nothing',
    recordDispute,
    heard.map((from) => ({ ...from, dispute_id: 'dp_1', dispute_status: 'open', disputed_cents: 5 })),
  ),
)

const validators = new Map(Object.entries(paymentEvents).map(([type, schema]) => [type, Compile(schema)]))

/** What is wrong with a step from one state to the next by these events. */
function problemOf(before: Payment, { reports, decide }: Step, events: readonly PaymentEvent[], now: Payment) {
  if (isAbsorbing(before.status) && now.status !== before.status) return `${before.status} was left`
  if (before.completed_at !== null && now.completed_at !== before.completed_at) return 'completed twice'
  if (isAbsorbing(now.status) !== (now.completed_at !== null)) return 'final without a time'
  const failure = events.find(({ type }) => type === 'PaymentAttemptFailed')
  if (failure && reports !== 'failed' && reports !== 'refused') return 'failed without evidence'
  if (now.status === 'failed' && before.status !== 'failed' && !failure) return 'failed without a record'
  if (now.status !== before.status && events.length === 0) return 'changed without a record'
  if (now.status === 'failed' && now.failures === 0 && now.intent_outcome.kind === 'unknown')
    return 'failed while nobody knows'
  const misshapen = events.find(({ type, data }) => !validators.get(type)?.Check(data))
  if (misshapen) return `${misshapen.type} does not fit its schema`
  if (reports === 'nothing' && now.status === before.status && decide(now).length > 0) return 'done twice'
  return undefined
}

/** What is wrong with a whole stream. */
function problemOfStream(events: readonly PaymentEvent[]) {
  const count = (...types: PaymentEvent['type'][]) => events.filter(({ type }) => types.includes(type)).length
  if (count('PaymentSucceeded', 'PaymentCanceled') > 1) return 'two ends'
  if (count('ProviderIntentCreated') > 1) return 'two intents'
  const money = events
    .filter(isNotice)
    .filter(({ type }) => type !== 'ProviderEventIgnored')
    .map(noticeOf)
  if (new Set(money).size < money.length) return 'money is on record twice'
  return undefined
}

t.test('whatever happens to a payment in whatever order, the invariants hold', async (t) => {
  fc.assert(
    fc.property(fc.array(steps, { maxLength: 20 }), (story) => {
      const events = [...initiated]
      for (const step of story) {
        const before = existing(fold(events))
        const more = step.decide(before)
        events.push(...more)
        const problem = problemOf(before, step, more, existing(fold(events)))
        if (problem) throw new Error(problem)
      }
      const problem = problemOfStream(events)
      if (problem) throw new Error(problem)
    }),
    { numRuns: 5000 },
  )
  t.pass('5,000 random stories')
})
