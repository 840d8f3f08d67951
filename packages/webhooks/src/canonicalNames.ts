// Canonical event names and messages.
import type { AttentionCode, DisputeStatus, Payer, RefundReason, RefundStatus } from '@paylog/domain/payments/events'

export const canonicalNames = [
  'payment.created',
  'payment.succeeded',
  'payment.failed',
  'payment.refunded',
  'payment.disputed',
  'payment.attention',
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
  // No generic notification is about a refund or a dispute: the object is the payment.
  'payment.refunded': 'payment_intent.succeeded',
  'payment.disputed': 'payment_intent.succeeded',
  'payment.attention': 'payment_intent.succeeded',
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

/** `data.refund` of payment.refunded. */
export type RefundFacts = {
  /** Ours, like that of a dispute. */
  readonly id: string
  /** In minor units of the payment's currency; `null` when the provider reported another one. */
  readonly amount: number | null
  readonly status: RefundStatus
  readonly reason: RefundReason
}

/** `data.dispute` of payment.disputed. */
export type DisputeFacts = {
  readonly id: string
  readonly amount: number | null
  readonly status: DisputeStatus
  /** The provider's word. */
  readonly reason: string | null
  /** ISO 8601. */
  readonly evidence_due_by: string | null
}

/** `data.attention` of payment.attention. */
export type AttentionFacts = { readonly code: AttentionCode; readonly message: string }

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
  /** Each only in the messages of one name. */
  readonly refund?: RefundFacts
  readonly dispute?: DisputeFacts
  readonly attention?: AttentionFacts
  /** The user who may see it in the log: the payer, or the user who requested a test. Never a provider's customer. */
  readonly owner: string | null
  /** Set for tests and simulations. */
  readonly is_test?: true
}
