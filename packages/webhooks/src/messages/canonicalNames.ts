// Canonical event names.

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
