// Providers and the events of their notifications.
import { type Static, Type } from 'typebox'
import type { EventsOf, Fold } from './events.ts'
import { Id, Instant, Nullable } from './fields.ts'
import { Payer, SignedBody } from './payments/events.ts'
import { PersonalText } from './personalData.ts'

/** Used in routes, variables, patterns and events, so they are part of the contract. */
export const providerNames = ['stripe', 'paypal', 'authorize-net', 'sandbox'] as const
export type ProviderName = (typeof providerNames)[number]

/** Fields of every notification event, so that a webhook can be built from one event alone. */
const facts = {
  provider_id: Type.String(),
  provider_event_id: Type.String(),
  /** The provider's name for the event type. */
  provider_type: Type.String(),
  /** The generic name (interface, section 6.1), if any. */
  generic_type: Nullable(Type.String()),
  /** Time by the provider's clock. */
  provider_time: Instant,
  occurred_at: Instant,
}

/** The object of the notification. A field is null when the notification has no value for it. */
export const subject = {
  object_id: Nullable(Type.String()),
  amount_cents: Nullable(Type.Integer()),
  currency: Nullable(Type.String()),
  status: Nullable(Type.String()),
}

/** The subscription in a notification about a subscription or its invoice. */
export const SubscriptionFacts = Type.Object({
  subscription_id: Nullable(Type.String()),
  current_period_end: Nullable(Instant),
  /** Whether the notification reports a change of the subscription's status. */
  status_changed: Type.Boolean(),
  /** Whether this is the first invoice of the subscription. */
  is_first_invoice: Type.Boolean(),
})
export type SubscriptionFacts = Static<typeof SubscriptionFacts>

/** What several notifications of a provider may report, and receivers are told once: by the subscription or the invoice. */
export const SharedFactKind = Type.Enum(['ended_subscription', 'paid_invoice'])
export type SharedFactKind = Static<typeof SharedFactKind>

/** `is_first`: no other notification has reported it before. */
export const SharedFact = Type.Object({ kind: SharedFactKind, is_first: Type.Boolean() })
export type SharedFact = Static<typeof SharedFact>

export const sharedFactEvents = {
  /** The first notification that reports it. In a stream of the fact, so that one of several at the same moment is the first. */
  ProviderFactReported: Type.Object({
    provider_id: Type.String(),
    kind: SharedFactKind,
    /** The subscription or the invoice. */
    object_id: Type.String(),
    provider_event_id: Type.String(),
    occurred_at: Instant,
  }),
}
export type SharedFactEvent = EventsOf<typeof sharedFactEvents>

/** Folds to the id of the notification that reported the fact first; null when none has. */
export const sharedFactFold: Fold<string | null, SharedFactEvent> = {
  initialState: null,
  evolve: (first, { data }) => first ?? data.provider_event_id,
}

export const providerNotificationEvents = {
  /** A verified notification that is not, or not yet known to be, about one of our payments. */
  ProviderEventReceived: Type.Object({
    ...facts,
    body: SignedBody,
  }),
  /** It was applied to one of our payments later, because the payment could not be found at once. */
  ProviderEventApplied: Type.Object({
    ...facts,
    ...subject,
    payment_id: Id,
    payer: Payer,
    project_id: Nullable(Type.String()),
    /** Whether the notification names the payment, but its intent is not the payment's. */
    is_foreign_intent: Type.Boolean(),
  }),
  /** The notification is about one of our payment methods. */
  ProviderEventAppliedToMethod: Type.Object({ ...facts, object_id: Nullable(Type.String()), payment_method_id: Id }),
  /** The notification is about an object that we did not create: a foreign payment, a subscription, a customer. */
  ProviderEventUnmatched: Type.Object({
    ...facts,
    ...subject,
    customer_id: Nullable(Type.String()),
    customer_email: PersonalText,
    subscription: Nullable(SubscriptionFacts),
    /** Null when it reports none. Events of 1.0.0 do not have it: their generic type says what receivers are told. */
    shared_fact: Type.Optional(Nullable(SharedFact)),
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
