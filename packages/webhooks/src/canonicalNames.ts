// The names of the canonical events, and what a message about one says.
import type { Payer } from '@paylog/domain/payments/events'

export const canonicalNames = [
  'payment.created',
  'payment.succeeded',
  'payment.failed',
  'subscription.created',
  'subscription.updated',
  'subscription.cancelled',
  'membership.activated',
  'membership.extended',
  'membership.pending',
  'membership.cancelled',
  'customer.created',
  'customer.updated',
] as const
export type CanonicalName = (typeof canonicalNames)[number]

/** @returns the text as a name, if it is one */
export function canonicalName(text: string | null): CanonicalName | undefined {
  return canonicalNames.find((name) => name === text)
}

/** The notification that has the object which a name is about: an intent, a subscription, an invoice or a customer. */
const notificationTypes: Readonly<Record<CanonicalName, string>> = {
  'payment.created': 'payment_intent.created',
  'payment.succeeded': 'payment_intent.succeeded',
  'payment.failed': 'payment_intent.failed',
  'subscription.created': 'subscription.created',
  'subscription.updated': 'subscription.updated',
  'subscription.cancelled': 'subscription.deleted',
  'membership.activated': 'subscription.updated',
  'membership.extended': 'invoice.payment_succeeded',
  'membership.pending': 'subscription.updated',
  'membership.cancelled': 'subscription.deleted',
  'customer.created': 'customer.created',
  'customer.updated': 'customer.updated',
}

/** The generic name of the notification whose object a message of this name is about. */
export const genericFor = (name: CanonicalName): string => notificationTypes[name]

/** A message before it has a receiver. `null` stands for what the source does not say. */
export type CanonicalMessage = {
  readonly name: CanonicalName
  readonly provider: string
  /** The event's own time, ISO 8601. */
  readonly timestamp: string
  readonly payment_id: string | null
  readonly amount: number | null
  readonly currency: string | null
  readonly status: string | null
  readonly user: Payer
  /** As the payer wrote it into the payment's metadata. */
  readonly project_id: string | null
  /** On messages about subscriptions and customers, where known. */
  readonly subscription_id?: string
  readonly customer_id?: string
  /** Until when a subscription is paid for, ISO 8601. */
  readonly current_period_end?: string
  /** The user who may see it in the log: whom it is about, or who asked for a test. A provider's customer is none. */
  readonly owner: string | null
  /** Somebody tries his endpoints out: nothing has happened. */
  readonly is_test?: true
}
