import fc from 'fast-check'
import t from 'tap'
import { Compile } from 'typebox/compile'
import { type PaymentEvent, paymentEvents } from './events.ts'
import { contentKey, existingPayment, isAbsorbing, isNonStatusEvent, type Payment } from './payment.ts'
import { type PaymentStep, paymentSteps } from './testing/paymentArbitraries.ts'
import { fold, initiated } from './testing/paymentFixture.ts'

const validators = new Map(Object.entries(paymentEvents).map(([type, schema]) => [type, Compile(schema)]))

/** What is wrong with a step from one state to the next by these events. */
function problemOf(before: Payment, { reports, decide }: PaymentStep, events: readonly PaymentEvent[], now: Payment) {
  if (isAbsorbing(before.status) && now.status !== before.status) return `${before.status} was left`
  if (before.completed_at !== null && now.completed_at !== before.completed_at) return 'completed twice'
  if (isAbsorbing(now.status) !== (now.completed_at !== null)) return 'final without a time'
  const failure = events.find(({ type }) => type === 'PaymentAttemptFailed')
  if (failure && reports !== 'failed' && reports !== 'rejected') return 'failed without evidence'
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
    .filter(isNonStatusEvent)
    .filter(({ type }) => type !== 'ProviderEventIgnored')
    .map(contentKey)
  if (new Set(money).size < money.length) return 'money is on record twice'
  return undefined
}

t.test('whatever happens to a payment in whatever order, the invariants hold', async (t) => {
  fc.assert(
    fc.property(fc.array(paymentSteps, { maxLength: 20 }), (story) => {
      const events = [...initiated]
      for (const step of story) {
        const before = existingPayment(fold(events))
        const more = step.decide(before)
        events.push(...more)
        const problem = problemOf(before, step, more, existingPayment(fold(events)))
        if (problem) throw new Error(problem)
      }
      const problem = problemOfStream(events)
      if (problem) throw new Error(problem)
    }),
    { numRuns: 5000 },
  )
  t.pass('5,000 random stories')
})
