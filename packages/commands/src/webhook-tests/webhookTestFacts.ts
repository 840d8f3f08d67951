// Builds the recorded facts of a webhook test or simulation from its event name and payload.
import { DomainError } from '@paylog/domain/errors'
import type { WebhookTestFacts } from '@paylog/domain/webhookTest'
import { genericNames, isPaymentType, statusOfGenericType } from '@paylog/providers/genericEvent'
import { type ProviderObject, testIdOf } from '@paylog/providers/providerPlugin'
import { sharedFactOf } from '@paylog/providers/sharedFact'
import { type SimulatedNotification, type Simulator, simulators } from '@paylog/providers/simulation'
import { invalidInput } from '@paylog/runtime/http/validation'
import { type CanonicalName, canonicalName, canonicalNames, genericFor } from '@paylog/webhooks/messages/canonicalNames'

/** The facts that depend on the request's content, not on its caller. */
export type RequestedFacts = Omit<WebhookTestFacts, 'webhook_test_id' | 'requested_by' | 'request_fingerprint' | 'plan'>

/** A requested name: with `isNative` the provider's own, otherwise one to look up. */
export type RequestedName = { readonly name: string; readonly isNative: boolean }

type Origin = { readonly id: string; readonly at: Date }
export type TestRequest = Origin & { readonly event: string; readonly test_data: ProviderObject }
export type SimulationRequest = Origin & RequestedName & { readonly provider: string; readonly payload: ProviderObject }

/** Stripe's v2 event names contain brackets. */
const part = '[A-Za-z0-9_[\\]-]+'
const namePattern = new RegExp(`^(?:([a-z][a-z0-9-]*):)?(${part}(?:\\.${part})*)$`)

/** Maximum length of a provider's own name. */
const maxNameLength = 200

/** The provider of all tests. */
const testProvider = 'sandbox'
const money = { amount: 1000, currency: 'usd' }
/** The paid period of a test's subscription. */
const periodMs = 30 * 24 * 60 * 60 * 1000

/** Default status of a test's object, by event name; a payment's status follows from the name. */
const statuses: Readonly<Record<string, string>> = {
  'subscription.created': 'active',
  'subscription.updated': 'active',
  'subscription.trial_will_end': 'trialing',
  'subscription.deleted': 'canceled',
  'invoice.payment_succeeded': 'paid',
  'invoice.payment_failed': 'open',
  'membership.pending': 'incomplete',
}

/**
 * The facts of a test. A canonical name gives only that event, a generic name gives a notification.
 * @throws DomainError `invalid_request` for a name that is neither
 */
export function testFacts(test: TestRequest): RequestedFacts {
  const { event } = test
  const canonical = canonicalName(event)
  if (canonical !== undefined) {
    const facts = canonicalFacts(testProvider, canonical, simulatedNotification(test, genericFor(canonical)))
    return { ...facts, ...subscriptionOf(test, canonical, facts.object_id) }
  }
  if (!genericNames.includes(event))
    throw invalidEvent(`must be one of ${[...new Set([...canonicalNames, ...genericNames])].join(', ')}`)
  return notificationFacts(testProvider, simulatedNotification(test, event))
}

/**
 * The facts of a simulation. A provider's own name or a generic one gives a notification, a name that is only canonical gives
 * that event, and an unknown name gives a notification that only raw endpoints receive.
 * @throws DomainError `provider_not_enabled` for an unknown provider
 */
export function simulationFacts({ provider, name, isNative, payload, id, at }: SimulationRequest): RequestedFacts {
  const simulator = simulatorOf(provider)
  const simulated = (type: string, generic_type: string | null) =>
    simulator.simulate({ type, generic_type, payload, id, at })
  const type = isNative ? undefined : simulator.nativeType(name)
  if (type !== undefined) return notificationFacts(provider, simulated(type, name))
  const canonical = isNative ? undefined : canonicalName(name)
  if (canonical === undefined) return notificationFacts(provider, simulated(name, null))
  const generic = genericFor(canonical)
  return canonicalFacts(provider, canonical, simulated(simulator.nativeType(generic) ?? generic, generic))
}

/** @throws DomainError `invalid_request` for a malformed name, or one with another provider's prefix */
export function parseRequestedName(event: string, provider: string): RequestedName {
  const [, prefix, name] = namePattern.exec(event) ?? []
  if (name === undefined || name.length > maxNameLength)
    throw invalidEvent('must be a name such as payment.succeeded, payment_intent.succeeded or stripe:charge.failed')
  if (prefix !== undefined && prefix !== provider) throw invalidEvent('has the prefix of another provider')
  return { name, isNative: prefix !== undefined }
}

/** @throws DomainError `provider_not_enabled` */
export function simulatorOf(provider: string): Simulator {
  const simulator = simulators.get(provider)
  if (simulator) return simulator
  const known = [...simulators.keys()]
  throw new DomainError('provider_not_enabled', `The provider must be one of ${known.join(', ')}`, { known })
}

/** Adds the subscription that a membership message contains, because the sandbox object has none. */
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

/** Facts of a provider notification. */
function notificationFacts(provider_id: string, { body, facts }: SimulatedNotification): RequestedFacts {
  const { subscription, shared_fact: _fact, ...rest } = facts
  const fact = sharedFactOf(facts)
  const shared_fact = fact && { kind: fact.kind, is_first: true }
  return { provider_id, canonical_name: null, body, ...rest, subscription: subscription ?? null, shared_fact }
}

/** Facts of a single canonical event. */
function canonicalFacts(
  provider_id: string,
  canonical_name: CanonicalName,
  simulated: SimulatedNotification,
): RequestedFacts {
  const facts = notificationFacts(provider_id, simulated)
  return { ...facts, canonical_name, provider_type: null, generic_type: null, body: null }
}

/** @param message continues the field name to a sentence */
function invalidEvent(message: string): DomainError {
  return invalidInput('body', [{ field: 'event', message }])
}
