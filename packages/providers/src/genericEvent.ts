// Generic events: the provider-independent types and shape of interface section 6.1, which every receiver also accepts.
import { DomainError } from '@paylog/domain/errors'
import { Id } from '@paylog/domain/fields'
import type { Evidence } from '@paylog/domain/payments/evidence'
import type { PaymentStatus } from '@paylog/domain/payments/payment'
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Amount, Code, checkEvent, maybe, subscriptionFacts, UnixTime } from './fields.ts'
import { isoTime } from './lenient.ts'
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

const GenericEvent = Type.Object({
  id: Code,
  type: Code,
  created: UnixTime,
  data: Type.Object({
    object: Type.Object({
      id: Code,
      amount: maybe(Amount),
      currency: maybe(Code),
      status: maybe(Code),
      customer: maybe(Code),
      customer_email: maybe(Code),
      metadata: Type.Optional(Type.Object({ payment_id: Type.Optional(Id) })),
    }),
  }),
})
type GenericEvent = Static<typeof GenericEvent>
const genericEvent = Compile(GenericEvent)

const genericShape = Compile(Type.Object({ type: Type.String(), data: Type.Object({ object: Type.Object({}) }) }))

/**
 * Whether a body has the generic shape. PayPal's and Authorize.Net's own events name their type `event_type` or
 * `eventType`.
 */
export function isGenericEvent(json: unknown): boolean {
  return genericShape.Check(json) && !('event_type' in json) && !('eventType' in json)
}

/** The provider-specific parts of a generic event. */
export type GenericEventOptions = {
  /** The charge id, where it follows from the intent id. */
  readonly chargeOf: (intentId: string) => string | null
  readonly failure: Required<Pick<Evidence, 'failure_code' | 'failure_message'>>
}

/**
 * Reads a generic event.
 * @throws DomainError `invalid_request` when the shape is wrong, or a payment event has no amount
 */
export function readGenericEvent(json: unknown, options: GenericEventOptions): ProviderNotification {
  const event = checkEvent(genericEvent, json)
  const { id, type, created, data } = event
  const { object } = data
  const occurred_at = isoTime(created)
  return {
    provider_event_id: id,
    provider_type: type,
    generic_type: genericName(type),
    occurred_at,
    object_id: object.id,
    amount_cents: object.amount ?? null,
    currency: object.currency?.toUpperCase() ?? null,
    status: object.status?.toLowerCase() ?? null,
    customer_id: object.customer ?? null,
    customer_email: object.customer_email ?? null,
    referenced_payment_id: object.metadata?.payment_id ?? null,
    report: reportOf(event, occurred_at, options),
    subscription: genericSubscription(type, object.id),
  }
}

function reportOf(
  { id, type, data: { object } }: GenericEvent,
  provider_time: string,
  { chargeOf, failure }: GenericEventOptions,
): ProviderReport | null {
  if (!isPaymentType(type)) return null
  // Without an amount we could not check that the right amount was paid.
  if (typeof object.amount !== 'number' || typeof object.currency !== 'string')
    throw new DomainError('invalid_request', 'The event is not valid: amount and currency are required')
  const source = { provider_time, provider_event_id: id, provider_intent_id: object.id }
  const status = statusOfGenericType(type)
  if (status === null) return { about: 'object', ...source, provider_payment_id: null }
  return {
    about: 'status',
    status,
    ...source,
    provider_payment_id: status === 'succeeded' ? chargeOf(object.id) : null,
    amount_cents: object.amount,
    currency: object.currency.toUpperCase(),
    ...(status === 'failed' ? failure : {}),
  }
}
