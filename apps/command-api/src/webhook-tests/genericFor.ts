// What the object behind a canonical name is read as.
import type { CanonicalName } from '@paylog/webhooks/canonicalNames'

/** The generic name of the notification that has it: of an intent, a subscription, an invoice or a customer. */
const generics: Readonly<Record<CanonicalName, string>> = {
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

export const genericFor = (name: CanonicalName): string => generics[name]
