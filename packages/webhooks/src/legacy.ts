// Messages of the single list of endpoints: the provider's events under their generic names, as interface §6.2 has them.
import type { AppliedNotification } from './notified.ts'

/** The families that the interface offers. */
const families: ReadonlySet<string> = new Set([
  'payment_intent',
  'payment_method',
  'subscription',
  'invoice',
  'customer',
])

/** What becomes of a payment is said in our words, whatever the provider calls it. */
const paymentStatuses: ReadonlyMap<string, string> = new Map([
  ['payment_intent.created', 'pending'],
  ['payment_intent.requires_action', 'pending'],
  ['payment_intent.processing', 'processing'],
  ['payment_intent.succeeded', 'succeeded'],
  ['payment_intent.failed', 'failed'],
  ['payment_intent.canceled', 'canceled'],
])

/** Whether a name, or a pattern, is of a family that the single list offers. */
export function isLegacyFamily(name: string): boolean {
  const [family = ''] = name.split('.')
  return families.has(family)
}

/** @returns nothing for what has no name that the single list offers */
export function legacyName({ generic_type }: AppliedNotification): string | undefined {
  return generic_type !== null && isLegacyFamily(generic_type) ? generic_type : undefined
}

export function legacyStatus(name: string, { status }: AppliedNotification): string | null {
  return paymentStatuses.get(name) ?? status
}

/** The payload of interface §6.2. Serialised once, like the canonical one. */
export function legacyBody(name: string, notification: AppliedNotification): string {
  const { provider_id, occurred_at, payment_id, amount_cents, currency, customer_email, is_test } = notification
  return JSON.stringify({
    event: name,
    provider: provider_id,
    timestamp: occurred_at,
    data: {
      payment_id,
      amount: amount_cents,
      currency: currency?.toUpperCase() ?? null,
      customer_email,
      status: legacyStatus(name, notification),
    },
    test: is_test ? true : undefined,
  })
}
