import fc from 'fast-check'
import t from 'tap'
import { Compile } from 'typebox/compile'
import { contentKey, isNonStatusEvent } from './duplicates.ts'
import { type PaymentEvent, paymentEvents } from './events.ts'
import { existingPayment, isAbsorbing, type Payment } from './payment.ts'
import { isCreateRejected } from './providerCall.ts'
import { type PaymentStep, paymentSteps } from './testing/paymentArbitraries.ts'
import { fold, initiated } from './testing/paymentFixture.ts'

const validators = new Map(Object.entries(paymentEvents).map(([type, schema]) => [type, Compile(schema)]))

const isFailure = (event: PaymentEvent) =>
  event.type === 'PaymentAttemptFailed' || (event.type === 'ProviderCallFailed' && isCreateRejected(event.data))

/** The violated invariant of a step, if any. */
function problemOf(before: Payment, { reports, decide }: PaymentStep, events: readonly PaymentEvent[], now: Payment) {
  if (isAbsorbing(before.status) && now.status !== before.status) return `final status ${before.status} changed`
  if (before.completed_at !== null && now.completed_at !== before.completed_at) return 'completed twice'
  if (isAbsorbing(now.status) !== (now.completed_at !== null)) return 'final status and completed_at do not agree'
  const failure = events.find(isFailure)
  if (failure && reports !== 'failed' && reports !== 'rejected') return 'failed without report'
  if (now.status === 'failed' && before.status !== 'failed' && !failure) return 'failed without an event'
  if (now.status !== before.status && events.length === 0) return 'status changed without an event'
  if (now.status === 'failed' && now.failures === 0 && now.create.outcome === 'unknown')
    return 'failed although the outcome is unknown'
  const invalid = events.find(({ type, data }) => !validators.get(type)?.Check(data))
  if (invalid) return `${invalid.type} does not match its schema`
  if (reports === 'nothing' && now.status === before.status && decide(now).length > 0) return 'recorded twice'
  return undefined
}

/** The violated invariant of a whole stream, if any. */
function problemOfStream(events: readonly PaymentEvent[]) {
  const count = (...types: PaymentEvent['type'][]) => events.filter(({ type }) => types.includes(type)).length
  if (count('PaymentSucceeded', 'PaymentCanceled') > 1) return 'two final statuses'
  if (count('ProviderIntentCreated') > 1) return 'two intents'
  const nonStatus = events.filter(isNonStatusEvent)
  const money = nonStatus
    .filter(({ type }) => type !== 'ProviderEventIgnored' && type !== 'PaymentDisputeRecorded')
    .map(contentKey)
  if (new Set(money).size < money.length) return 'the same mismatch, conflict or refund is recorded twice'
  const disputes = nonStatus.filter((event) => event.type === 'PaymentDisputeRecorded')
  for (const [index, event] of disputes.entries()) {
    // A dispute may come back to a former status of the provider, as when both sides are asked in turn.
    const former = disputes.slice(0, index).findLast(({ data }) => data.dispute_id === event.data.dispute_id)
    if (former && contentKey(former) === contentKey(event)) return 'the same status of a dispute is recorded twice'
  }
  return undefined
}

t.test('the invariants of a payment hold for random histories', async (t) => {
  fc.assert(
    fc.property(fc.array(paymentSteps, { maxLength: 20 }), (steps) => {
      const events = [...initiated]
      for (const step of steps) {
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
  t.pass('5,000 random histories')
})
