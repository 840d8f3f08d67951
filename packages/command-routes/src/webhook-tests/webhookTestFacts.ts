// What a test or a simulation is recorded to say, from the notification that it was written down as.
import { DomainError } from '@paylog/domain/errors'
import type { WebhookTestFacts } from '@paylog/domain/webhookTest'
import { genericNames, isPaymentType, statusOfGenericType } from '@paylog/providers/genericEvent'
import { testIdOf } from '@paylog/providers/providerPlugin'
import { type SimulatedNotification, type Simulator, simulators } from '@paylog/providers/simulation'
import { type CanonicalName, canonicalName, canonicalNames, genericFor } from '@paylog/webhooks/canonicalNames'

/** What depends on what was asked for, and not on who asked. */
export type RequestedFacts = Omit<WebhookTestFacts, 'webhook_test_id' | 'requested_by' | 'request_fingerprint' | 'plan'>

/** It is treated as a notification of the provider. */
function notificationFacts(provider_id: string, { body, facts }: SimulatedNotification): RequestedFacts {
  const { subscription, ...rest } = facts
  return { provider_id, canonical_name: null, body, ...rest, ...(subscription && { subscription }) }
}

/** It is one canonical event. */
function canonicalFacts(
  provider_id: string,
  canonical_name: CanonicalName,
  simulated: SimulatedNotification,
): RequestedFacts {
  const facts = notificationFacts(provider_id, simulated)
  return { ...facts, canonical_name, provider_type: null, generic_type: null, body: null }
}

/** @param message completes the sentence that begins with the field */
function invalidField(field: string, message: string): DomainError {
  return new DomainError('invalid_request', `The body is invalid: ${field} ${message}`, {
    fields: [{ field, message }],
  })
}

// What POST /webhooks/external/simulate is asked for: which of the names it is, and what the provider's object says.

export type SimulationRequest = {
  readonly event: string
  readonly provider: string
  readonly payload: Readonly<Record<string, unknown>>
}

/** Brackets stand in Stripe's names of the second generation. */
const part = '[A-Za-z0-9_[\\]-]+'
const namePattern = new RegExp(`^(?:([a-z][a-z0-9-]*):)?(${part}(?:\\.${part})*)$`)

/** As long as a provider's own name may be. */
const maxNameLength = 200

/** A name that was asked for: the provider's own if `isNative`, and else one that has to be looked up. */
export type RequestedName = { readonly name: string; readonly isNative: boolean }

/** @throws DomainError `invalid_request` for what is no name, or one of another provider's */
export function parseRequestedName({ event, provider }: Pick<SimulationRequest, 'event' | 'provider'>): RequestedName {
  const [, prefix, name] = namePattern.exec(event) ?? []
  if (name === undefined || name.length > maxNameLength)
    throw invalidField(
      'event',
      'must be a name such as payment.succeeded, payment_intent.succeeded or stripe:charge.failed',
    )
  if (prefix !== undefined && prefix !== provider) throw invalidField('event', 'begins with another provider')
  return { name, isNative: prefix !== undefined }
}

/**
 * @param refuse is called before it is said that there is no such provider, to refuse for a graver reason
 * @throws DomainError `provider_not_enabled`
 */
export function simulatorOf(provider: string, refuse: () => void = () => undefined): Simulator {
  const simulator = simulators.get(provider)
  if (simulator) return simulator
  refuse()
  const known = [...simulators.keys()]
  throw new DomainError('provider_not_enabled', `The provider must be one of ${known.join(', ')}`, { known })
}

/**
 * What goes on record. A name that is the provider's own or a generic one is its notification; one that is only canonical
 * is that event; and one that nobody knows is a notification that only raw nodes are told of.
 */
export function simulationFacts(
  { provider, payload }: SimulationRequest,
  { name, isNative }: RequestedName,
  { simulator, id, at }: { readonly simulator: Simulator; readonly id: string; readonly at: Date },
): RequestedFacts {
  const simulated = (type: string, generic_type: string | null) =>
    simulator.simulate({ type, generic_type, payload, id, at })
  const type = isNative ? undefined : simulator.nativeType(name)
  if (type !== undefined) return notificationFacts(provider, simulated(type, name))
  const canonical = isNative ? undefined : canonicalName(name)
  if (canonical === undefined) return notificationFacts(provider, simulated(name, null))
  const generic = genericFor(canonical)
  return canonicalFacts(provider, canonical, simulated(simulator.nativeType(generic) ?? generic, generic))
}

// What POST /webhooks/test is asked for: a message of the sandbox's, where everything that is not given has a default.

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
