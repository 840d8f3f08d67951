// Providers' notifications about nothing of ours, translated by the generic names of interface §6.1.

import type { providerNotificationEvents } from '@paylog/domain/provider-events/events'
import type { Static } from 'typebox'
import type { CanonicalMessage, CanonicalName } from './canonical.ts'

type Unmatched = Static<(typeof providerNotificationEvents)['ProviderEventUnmatched']>
type Translation = (data: Unmatched) => readonly CanonicalMessage[]

const activeStatuses: ReadonlySet<string> = new Set(['active', 'trialing'])

const translations: Readonly<Record<string, Translation>> = {
  'payment_intent.succeeded': (data) => payment(data, 'payment.succeeded', 'succeeded'),
  'payment_intent.failed': (data) => payment(data, 'payment.failed', 'failed'),
  'payment_intent.canceled': (data) => payment(data, 'payment.failed', 'canceled'),
  'subscription.created': (data) => [
    subscription(data, 'subscription.created', data.status),
    subscription(
      data,
      data.status !== null && activeStatuses.has(data.status) ? 'membership.activated' : 'membership.pending',
      data.status,
    ),
  ],
  'subscription.updated': (data) => [subscription(data, 'subscription.updated', data.status)],
  'subscription.trial_will_end': (data) => [subscription(data, 'subscription.updated', data.status)],
  'subscription.deleted': (data) => [
    subscription(data, 'subscription.cancelled', data.status ?? 'canceled'),
    subscription(data, 'membership.cancelled', data.status ?? 'canceled'),
  ],
  'invoice.payment_succeeded': (data) => [invoice(data, 'membership.extended')],
  'invoice.payment_failed': (data) => [invoice(data, 'membership.pending')],
  'customer.created': (data) => [customer(data, 'customer.created', data.status)],
  'customer.updated': (data) => [customer(data, 'customer.updated', data.status)],
  'customer.deleted': (data) => [customer(data, 'customer.updated', 'deleted')],
}

/**
 * What a foreign notification means in canonical messages. What has no generic name, or says too little for the
 * payload, is told to raw nodes only.
 */
export function unmatchedMessages(data: Unmatched): readonly CanonicalMessage[] {
  const type = data.generic_type
  if (type === null || !Object.hasOwn(translations, type)) return []
  return translations[type]?.(data) ?? []
}

/** A payment that another system made: the provider's id stands for ours. Without an amount there is nothing to tell. */
function payment(data: Unmatched, name: CanonicalName, status: string): readonly CanonicalMessage[] {
  if (data.object_id === null || data.amount_cents === null || data.currency === null) return []
  return [{ ...message(data, name, status), payment_id: data.object_id, ...customerId(data.customer_id) }]
}

function subscription(data: Unmatched, name: CanonicalName, status: string | null): CanonicalMessage {
  const subscriptionId = data.object_id === null ? {} : { subscription_id: data.object_id }
  return { ...message(data, name, status), ...subscriptionId, ...customerId(data.customer_id) }
}

/** The invoice is the payment that extends or endangers a membership. */
function invoice(data: Unmatched, name: CanonicalName): CanonicalMessage {
  return { ...message(data, name, data.status), payment_id: data.object_id, ...customerId(data.customer_id) }
}

function customer(data: Unmatched, name: CanonicalName, status: string | null): CanonicalMessage {
  const id = data.object_id ?? data.customer_id
  return { ...message({ ...data, customer_id: id }, name, status), ...customerId(id) }
}

const customerId = (id: string | null) => (id === null ? {} : { customer_id: id })

function message(data: Unmatched, name: CanonicalName, status: string | null): CanonicalMessage {
  return {
    name,
    provider: data.provider_id,
    timestamp: data.occurred_at,
    payment_id: null,
    amount: data.amount_cents,
    currency: data.currency,
    status,
    // The provider's customer, who is no user of ours, hence a type of its own.
    user: { id: data.customer_id, type: 'customer', email: data.customer_email },
    project_id: null,
    owner: null,
  }
}
