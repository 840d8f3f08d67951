// The names of the public language.

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
