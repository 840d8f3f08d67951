// The events of a payment.
import { type Static, Type } from 'typebox'
import type { EventsOf } from '../events.ts'
import { ClientObject, Id, Instant, Nullable } from '../fields.ts'
import { recordedTexts } from './clientTexts.ts'

/** The `user` of outgoing webhooks: a session's user, or a guest without an id. */
export const Payer = Type.Object({
  id: Nullable(Type.String()),
  type: Type.String(),
  email: Nullable(Type.String()),
})
export type Payer = Static<typeof Payer>

/** Fields of every payment event, so that a webhook can be built from one event alone. */
const facts = {
  payment_id: Id,
  occurred_at: Instant,
  provider_id: Type.String(),
  amount_cents: Type.Integer(),
  currency: Type.String(),
  payer: Payer,
  project_id: Nullable(Type.String()),
}

/** The text that a provider signed, exactly. */
export const signedBody = {
  body: Type.String(),
  /** Set for a long text: `body` is then its gzip in base64, to stay within the event store's size limit. */
  body_encoding: Type.Optional(Type.Literal('gzip')),
}

/** How a create call can fail. Only `provider_unavailable` allows another attempt. */
export const IntentRejection = Type.Union([
  Type.Literal('payment_declined'),
  Type.Literal('provider_rejected'),
  Type.Literal('currency_not_supported'),
  Type.Literal('provider_unavailable'),
])
export type IntentRejection = Static<typeof IntentRejection>

/** The source of a status. `provider_time` orders reports that arrive out of order. */
const evidence = {
  provider_time: Instant,
  /** Null when the source is the response to our own call. */
  provider_event_id: Nullable(Type.String()),
  provider_payment_id: Nullable(Type.String()),
}

export const paymentEvents = {
  PaymentInitiated: Type.Object({
    ...facts,
    subtotal_cents: Type.Integer(),
    tax_cents: Type.Integer(),
    discount_cents: Type.Integer(),
    total_cents: Type.Integer(),
    ...recordedTexts,
    payment_method_id: Nullable(Type.String()),
    /** The saved method at the provider, as used in the create call; absent without one. */
    provider_method: Type.Optional(
      Type.Object({ provider_method_id: Type.String(), provider_customer_id: Nullable(Type.String()) }),
    ),
    is_guest_payment: Type.Boolean(),
    guest_email: Nullable(Type.String()),
    guest_name: Nullable(Type.String()),
    guest_phone: Nullable(Type.String()),
    metadata: ClientObject(),
    /** SHA-256 of the request; null without an Idempotency-Key. */
    request_fingerprint: Nullable(Type.String()),
  }),
  ProviderIntentCreated: Type.Object({
    ...facts,
    provider_intent_id: Type.String(),
    client_secret: Nullable(Type.String()),
    attempt: Type.Integer(),
  }),
  ProviderOutcomeUnknown: Type.Object({ ...facts, attempt: Type.Integer(), reason: Type.String() }),
  /** The provider throttled the create call until it timed out. It had no effect, and the same call will be repeated. */
  ProviderCallThrottled: Type.Object({ ...facts, attempt: Type.Integer(), reason: Type.String() }),
  /** Another create call is about to be made, after one that had no effect. */
  PaymentAttemptStarted: Type.Object({ ...facts, attempt: Type.Integer() }),
  /**
   * A verified notification about this payment. What follows from it is recorded in the same append, and names it as its
   * cause.
   */
  ProviderNotificationReceived: Type.Object({
    ...facts,
    provider_time: Instant,
    provider_event_id: Type.String(),
    /** The provider's name for the event type. */
    provider_type: Type.String(),
    /** The generic name (interface, section 6.1), if any. */
    generic_type: Nullable(Type.String()),
    object_id: Nullable(Type.String()),
    /** Absent when the notification does not name the intent. */
    reported_intent_id: Type.Optional(Type.String()),
    reported_amount_cents: Nullable(Type.Integer()),
    reported_currency: Nullable(Type.String()),
    reported_status: Nullable(Type.String()),
    /** Set when the notification names the payment, but its intent is not the payment's. */
    is_foreign_intent: Type.Optional(Type.Literal(true)),
    ...signedBody,
  }),
  PaymentActionRequired: Type.Object({ ...facts, ...evidence }),
  PaymentProcessingStarted: Type.Object({ ...facts, ...evidence }),
  PaymentSucceeded: Type.Object({ ...facts, ...evidence }),
  PaymentAttemptFailed: Type.Object({
    ...facts,
    ...evidence,
    /** The provider's code. */
    failure_code: Type.String(),
    failure_message: Type.String(),
    /** Why the provider rejected the create call, as returned to the caller. Null for failures that it reported later. */
    refusal: Nullable(IntentRejection),
  }),
  PaymentCanceled: Type.Object({ ...facts, ...evidence, reason: Nullable(Type.String()) }),
  PaymentAmountMismatch: Type.Object({
    ...facts,
    ...evidence,
    reported_amount_cents: Nullable(Type.Integer()),
    reported_currency: Nullable(Type.String()),
  }),
  PaymentConflictDetected: Type.Object({ ...facts, ...evidence, reported_status: Type.String() }),
  ProviderEventIgnored: Type.Object({
    ...facts,
    ...evidence,
    reported_status: Type.String(),
    reason: Type.Union([
      Type.Literal('stale'),
      Type.Literal('regression'),
      /** The order cannot be decided, for example because provider times are equal: we will query the provider. */
      Type.Literal('tie'),
      Type.Literal('final'),
      Type.Literal('foreign_intent'),
    ]),
  }),
  /** Money was refunded. `refunded_cents` is this refund alone; null when the provider did not report it in our currency. */
  PaymentRefundRecorded: Type.Object({
    ...facts,
    ...evidence,
    refund_id: Nullable(Type.String()),
    refunded_cents: Nullable(Type.Integer()),
  }),
  /** The payer disputes the payment. `dispute_status` is the provider's status. */
  PaymentDisputeRecorded: Type.Object({
    ...facts,
    ...evidence,
    dispute_id: Nullable(Type.String()),
    dispute_status: Type.String(),
    disputed_cents: Nullable(Type.Integer()),
  }),
}

export type PaymentEvent = EventsOf<typeof paymentEvents>
export type PaymentInitiated = Extract<PaymentEvent, { type: 'PaymentInitiated' }>
