// What POST /webhooks/test is asked for: a message of the sandbox's, where everything that is not given has a default.
import { genericNames, isPaymentType, statusOfGenericType } from '@paylog/providers/genericEvent'
import { testIdOf } from '@paylog/providers/notificationForm'
import type { SimulatedNotification } from '@paylog/providers/simulation'
import { type CanonicalName, canonicalName, canonicalNames, genericFor } from '@paylog/webhooks/canonicalNames'
import { type RequestedFacts, invalidField, canonicalFacts, notificationFacts } from './facts.ts'
import { simulatorOf } from './simulation.ts'

/** The provider that tests are of. */
const testProvider = 'sandbox'
const money = { amount: 1000, currency: 'usd' }
/** For how long the subscription of a test is paid. */
const periodMs = 30 * 24 * 60 * 60 * 1000

/** What the object of a test says of itself unless it is given; a payment has its status by the name. */
const statuses: Readonly<Record<string, string>> = {
  'subscription.created': 'active',
  'subscription.updated': 'active',
  'subscription.trial_will_end': 'trialing',
  'subscription.deleted': 'canceled',
  'invoice.payment_succeeded': 'paid',
  'invoice.payment_failed': 'open',
  'membership.pending': 'incomplete',
}

export type TestRequest = {
  readonly event: string
  readonly test_data: Readonly<Record<string, unknown>>
  readonly id: string
  readonly at: Date
}

/**
 * What goes on record. A canonical name is that event alone; a generic one is a notification by that name.
 * @throws DomainError `invalid_request` for a name that is neither
 */
export function testFacts(test: TestRequest): RequestedFacts {
  const { event } = test
  const canonical = canonicalName(event)
  if (canonical !== undefined) return canonicalTest(test, canonical)
  if (!genericNames.includes(event))
    throw invalidField('event', `must be one of ${[...new Set([...canonicalNames, ...genericNames])].join(', ')}`)
  return notificationFacts(testProvider, simulatedNotification(test, event))
}

function canonicalTest(test: TestRequest, name: CanonicalName): RequestedFacts {
  const facts = canonicalFacts(testProvider, name, simulatedNotification(test, genericFor(name)))
  return { ...facts, ...subscriptionOf(test, name, facts.object_id) }
}

/** The shape names no subscription beside the object; a test is to show what a membership's message holds. */
function subscriptionOf({ id, at }: TestRequest, name: CanonicalName, object_id: string | null) {
  if (!/^(subscription|membership)\./.test(name)) return {}
  const subscription = {
    subscription_id: name === 'membership.extended' ? testIdOf(`sub_${id}`) : object_id,
    current_period_end: new Date(at.getTime() + periodMs).toISOString(),
    status_changed: true,
    is_first_invoice: false,
  }
  return { subscription }
}

function simulatedNotification({ event, test_data, id, at }: TestRequest, generic: string): SimulatedNotification {
  const isCustomer = generic.startsWith('customer.')
  const status = statuses[event] ?? statuses[generic] ?? statusOfPayment(generic)
  const defaults = {
    ...(isCustomer ? {} : { ...money, customer: testIdOf(`cus_${id}`) }),
    ...(status === null ? {} : { status }),
  }
  return simulatorOf(testProvider).simulate({
    type: generic,
    generic_type: generic,
    payload: test_data,
    defaults,
    id,
    at,
  })
}

function statusOfPayment(generic: string): string | null {
  return isPaymentType(generic) ? (statusOfGenericType(generic) ?? 'pending') : null
}
