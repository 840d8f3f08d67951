// An event of Stripe's, taken apart, and what is read from it.
import type { ProviderNotification } from '../provider.ts'
import type { StripeObject } from './fields.ts'

export type StripeEventData = {
  readonly id: string
  readonly occurred_at: string
  readonly object: StripeObject
  /** What changed, as it was before. */
  readonly previous: StripeObject
}

/** What depends on the type of the event; the envelope is the same for all. */
export type NotificationDetails = Omit<
  ProviderNotification,
  'provider_event_id' | 'provider_type' | 'generic_type' | 'occurred_at'
>
