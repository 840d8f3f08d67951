// The names of the providers, which stand in routes, variables, patterns and events. They are part of the contract.
import { type Static, Type } from 'typebox'
import type { EventsOf } from './events.ts'
import { Id, Instant, Nullable } from './fields.ts'
import { Payer } from './payments/events.ts'

export const providerNames = ['stripe', 'paypal', 'authorize-net', 'sandbox'] as const
export type ProviderName = (typeof providerNames)[number]

// What happened to a notification of a provider: it came in, and then it was applied to a payment of ours or to none.

/** What every event about a notification repeats, so that one event alone can be told to others. */
const facts = {
  provider_id: Type.String(),
  provider_event_id: Type.String(),
  /** The provider's own name of the type. */
  provider_type: Type.String(),
  /** The name of interface section 6.1, where there is one. */
  generic_type: Nullable(Type.String()),
  /** The provider's time. */
  occurred_at: Instant,
}

/** The object that the notification is about, as far as it says so. */
export const subject = {
  object_id: Nullable(Type.String()),
  amount_cents: Nullable(Type.Integer()),
  currency: Nullable(Type.String()),
  status: Nullable(Type.String()),
}

/** What a notification about a subscription, or about an invoice of one, says of it. */
export const SubscriptionFacts = Type.Object({
  subscription_id: Nullable(Type.String()),
  current_period_end: Nullable(Instant),
  /** Whether the notification itself says that the subscription's status is another one than before. */
  status_changed: Type.Boolean(),
  /** Whether the invoice is the one that the subscription began with. */
  is_first_invoice: Type.Boolean(),
})
export type SubscriptionFacts = Static<typeof SubscriptionFacts>

export const providerNotificationEvents = {
  /** The signature was verified; `body` is the text that was signed, to the byte. */
  ProviderEventReceived: Type.Object({
    ...facts,
    received_at: Instant,
    body: Type.String(),
    /** Set when the text is long: `body` is then its gzip in base64, so that the log's limit holds it. */
    body_encoding: Type.Optional(Type.Literal('gzip')),
  }),
  ProviderEventApplied: Type.Object({
    ...facts,
    ...subject,
    payment_id: Id,
    payer: Payer,
    project_id: Nullable(Type.String()),
    /** Set when the notification only claims to be about the payment: its intent is not the payment's. */
    is_foreign_intent: Type.Optional(Type.Literal(true)),
  }),
  /** It is about a payment method of ours. */
  ProviderEventAppliedToMethod: Type.Object({ ...facts, object_id: Nullable(Type.String()), payment_method_id: Id }),
  /** It is about nothing of ours: another system's payment, a subscription, a customer. */
  ProviderEventUnmatched: Type.Object({
    ...facts,
    ...subject,
    customer_id: Nullable(Type.String()),
    customer_email: Nullable(Type.String()),
    subscription: Type.Optional(SubscriptionFacts),
  }),
}
export type ProviderNotificationEvent = EventsOf<typeof providerNotificationEvents>

export type NotificationState = { readonly state: 'none' | 'received' | 'settled' }

export const notificationFold = {
  initialState: Object.freeze({ state: 'none' }) as NotificationState,
  evolve(_state: NotificationState, event: ProviderNotificationEvent): NotificationState {
    return { state: event.type === 'ProviderEventReceived' ? 'received' : 'settled' }
  },
}

export const providerIntentEvents = {
  /** `provider_intent_id` is the provider's id of the intent, or of the charge that came of it. */
  ProviderIntentOwned: Type.Object({ payment_id: Id, provider_id: Type.String(), provider_intent_id: Type.String() }),
}
export type ProviderIntentEvent = EventsOf<typeof providerIntentEvents>

/** Which payment an intent or a charge at a provider belongs to. */
export const intentOwnerFold = {
  initialState: null as string | null,
  evolve(_state: string | null, event: ProviderIntentEvent): string | null {
    return event.data.payment_id
  },
}
