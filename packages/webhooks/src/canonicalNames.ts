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
