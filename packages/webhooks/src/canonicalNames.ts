// Canonical event names and messages.
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

/** The generic notification whose object a canonical message is about. */
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

/** The generic name of a notification that leads to this canonical event. */
export const genericFor = (name: CanonicalName): string => notificationTypes[name]

/** A canonical message, before it is built for an endpoint. `null` means unknown. */
export type CanonicalMessage = {
  readonly name: CanonicalName
  readonly provider: string
  /** Time of the event, ISO 8601. */
  readonly timestamp: string
  readonly payment_id: string | null
  readonly amount: number | null
  readonly currency: string | null
  readonly status: string | null
  readonly user: Payer
  /** From the payment's metadata, as the payer set it. */
  readonly project_id: string | null
  /** For subscriptions and customers, if known. */
  readonly subscription_id?: string
  readonly customer_id?: string
  /** End of the paid period of a subscription, ISO 8601. */
  readonly current_period_end?: string
  /** The user who may see it in the log: the payer, or the user who requested a test. Never a provider's customer. */
  readonly owner: string | null
  /** Set for tests and simulations. */
  readonly is_test?: true
}
