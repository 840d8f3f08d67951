// Canonical event names.

type About = {
  /** The generic notification whose object the message is about. */
  readonly notification: string
  /** What the message of a test says about its payment, unless the test names another status. */
  readonly status?: string | null
}

const about = {
  'payment.created': { notification: 'payment_intent.created', status: 'pending' },
  'payment.succeeded': { notification: 'payment_intent.succeeded', status: 'succeeded' },
  'payment.failed': { notification: 'payment_intent.failed', status: 'failed' },
  // No generic notification is about a refund or a dispute: the object is the payment.
  'payment.refunded': { notification: 'payment_intent.succeeded', status: 'succeeded' },
  'payment.disputed': { notification: 'payment_intent.succeeded', status: 'succeeded' },
  'payment.attention': { notification: 'payment_intent.succeeded', status: null },
  'subscription.created': { notification: 'subscription.created' },
  'subscription.updated': { notification: 'subscription.updated' },
  'subscription.cancelled': { notification: 'subscription.deleted' },
  'membership.activated': { notification: 'subscription.updated' },
  'membership.extended': { notification: 'invoice.payment_succeeded' },
  'membership.pending': { notification: 'subscription.updated' },
  'membership.cancelled': { notification: 'subscription.deleted' },
  'customer.created': { notification: 'customer.created' },
  'customer.updated': { notification: 'customer.updated' },
} as const satisfies Readonly<Record<string, About>>

export type CanonicalName = keyof typeof about
export const canonicalNames = Object.keys(about) as readonly string[] as readonly CanonicalName[]

/** @returns the text as a name, if it is one */
export function canonicalName(text: string | null): CanonicalName | undefined {
  return canonicalNames.find((name) => name === text)
}

/** The generic name of a notification that leads to this canonical event. */
export const genericFor = (name: CanonicalName): string => about[name].notification

/** Each has a status above. */
export type PaymentName = Extract<CanonicalName, `payment.${string}`>
export const testStatusOf = (name: PaymentName): string | null => about[name].status
