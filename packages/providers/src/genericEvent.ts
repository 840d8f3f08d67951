// Generic events: the provider-independent types and shape of interface section 6.1, which every receiver also accepts.

import type { PaymentStatus } from '@paylog/domain/payments/payment'
import type { StatusReport } from '@paylog/domain/payments/statusReports'
import { paymentIdFrom, subscriptionFacts } from './fields.ts'
import { codeAt, objectAt, requiredCodeAt, timeOfReading, unitsAt, unixTimeAt, valueAt } from './lenient.ts'
import type { ProviderNotification, ProviderReport } from './provider.ts'

const paymentStatuses: ReadonlyMap<string, PaymentStatus> = new Map([
  ['payment_intent.requires_action', 'pending'],
  ['payment_intent.processing', 'processing'],
  ['payment_intent.succeeded', 'succeeded'],
  ['payment_intent.failed', 'failed'],
  ['payment_intent.canceled', 'canceled'],
])

/** Sets no payment status. */
const created = 'payment_intent.created'

const otherTypes: ReadonlySet<string> = new Set([
  'payment_method.attached',
  'payment_method.detached',
  'payment_method.updated',
  'subscription.created',
  'subscription.updated',
  'subscription.deleted',
  'subscription.trial_will_end',
  'invoice.payment_succeeded',
  'invoice.payment_failed',
  'customer.created',
  'customer.updated',
  'customer.deleted',
])

export const genericNames: readonly string[] = [created, ...paymentStatuses.keys(), ...otherTypes]

/** @returns `null` for a type without a payment status, such as the intent's creation */
export function statusOfGenericType(type: string): PaymentStatus | null {
  return paymentStatuses.get(type) ?? null
}

/** Whether this is a generic type of payment events. */
export function isPaymentType(type: string): boolean {
  return type === created || paymentStatuses.has(type)
}

/** @returns the type if it is a generic name */
export function genericName(type: string): string | null {
  return isPaymentType(type) || otherTypes.has(type) ? type : null
}

/**
 * A generic subscription event only identifies the subscription. A generic invoice event does not show whether the
 * invoice belongs to a subscription, so its result is `null` (unknown).
 */
export function genericSubscription(
  type: string,
  subscription_id: string | null,
): ProviderNotification['subscription'] {
  return type.startsWith('subscription.') ? subscriptionFacts(subscription_id) : null
}

/**
 * Whether a body has the generic shape. PayPal's and Authorize.Net's own events name their type `event_type` or
 * `eventType`.
 */
export function isGenericEvent(json: unknown): boolean {
  const event = objectAt(json)
  return typeof event.type === 'string' && !('event_type' in event) && !('eventType' in event)
}

/** The provider-specific parts of a generic event. */
export type GenericEventOptions = {
  /** The charge id, where it follows from the intent id. */
  readonly chargeOf: (intentId: string) => string | null
  readonly failure: Required<Pick<StatusReport, 'failure_code' | 'failure_message'>>
}

/**
 * Reads a generic event. Odd fields count as absent.
 * @throws DomainError `invalid_request` when it has no id or no type
 */
export function readGenericEvent(json: unknown, options: GenericEventOptions): ProviderNotification {
  const [id, type] = [requiredCodeAt(json, 'id'), requiredCodeAt(json, 'type')]
  const object = valueAt(json, 'data', 'object')
  const facts = {
    provider_event_id: id,
    provider_type: type,
    generic_type: genericName(type),
    occurred_at: unixTimeAt(json, 'created') ?? timeOfReading(),
    object_id: codeAt(object, 'id'),
    amount_cents: unitsAt(object, 'amount'),
    currency: codeAt(object, 'currency')?.toUpperCase() ?? null,
    status: codeAt(object, 'status')?.toLowerCase() ?? null,
    customer_id: codeAt(object, 'customer'),
    customer_email: codeAt(object, 'customer_email'),
    referenced_payment_id: paymentIdFrom(valueAt(object, 'metadata', 'payment_id')),
    subscription: genericSubscription(type, codeAt(object, 'id')),
  }
  return { ...facts, report: reportOf(facts, options) }
}

function reportOf(
  facts: Omit<ProviderNotification, 'report'>,
  { chargeOf, failure }: GenericEventOptions,
): ProviderReport | null {
  const { provider_type: type, occurred_at: provider_time, provider_event_id, amount_cents, currency } = facts
  const { object_id: provider_intent_id } = facts
  if (!isPaymentType(type) || provider_intent_id === null) return null
  const source = { provider_time, provider_event_id, provider_intent_id }
  const status = statusOfGenericType(type)
  // Without an amount we could not check that the right amount was paid.
  if (status === null || amount_cents === null || currency === null)
    return { about: 'object', ...source, provider_payment_id: null }
  return {
    about: 'status',
    status,
    ...source,
    provider_payment_id: status === 'succeeded' ? chargeOf(provider_intent_id) : null,
    amount_cents,
    currency,
    ...(status === 'failed' ? failure : {}),
  }
}
