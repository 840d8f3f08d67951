// Everything that can happen to a payment, as recorded facts.
import { type Static, Type } from 'typebox'
import type { EventsOf } from '../events.ts'
import { ClientObject, Id, Instant, Nullable } from '../fields.ts'

/** Whom a payment belongs to, in the words of outgoing webhooks: a session's user, or a guest without an id. */
export const Payer = Type.Object({
  id: Nullable(Type.String()),
  type: Type.String(),
  email: Nullable(Type.String()),
})
export type Payer = Static<typeof Payer>

/** What every event of a payment repeats, so that one event alone can be told to others. */
const facts = {
  payment_id: Id,
  occurred_at: Instant,
  provider_id: Type.String(),
  amount_cents: Type.Integer(),
  currency: Type.String(),
  payer: Payer,
  project_id: Nullable(Type.String()),
}

/** How a create call can end without an intent. Only after `provider_unavailable` the same request may try again. */
export const IntentRejection = Type.Union([
  Type.Literal('payment_declined'),
  Type.Literal('provider_rejected'),
  Type.Literal('currency_not_supported'),
  Type.Literal('provider_unavailable'),
])
export type IntentRejection = Static<typeof IntentRejection>

/** Where the knowledge of a status comes from; `provider_time` orders evidence that arrives out of order. */
const evidence = {
  provider_time: Instant,
  /** Absent when the answer to our own call was the evidence. */
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
    concept: Nullable(Type.String()),
    description: Nullable(Type.String()),
    reference_code: Nullable(Type.String()),
    category: Nullable(Type.String()),
    tags: Nullable(Type.String()),
    payment_method_id: Nullable(Type.String()),
    /** The saved method at the provider, as the create call names it; absent where none was given. */
    provider_method: Type.Optional(
      Type.Object({ provider_method_id: Type.String(), provider_customer_id: Nullable(Type.String()) }),
    ),
    is_guest_payment: Type.Boolean(),
    guest_email: Nullable(Type.String()),
    guest_name: Nullable(Type.String()),
    guest_phone: Nullable(Type.String()),
    metadata: ClientObject(),
    /** SHA-256 of the request, when it came with an Idempotency-Key. */
    request_fingerprint: Nullable(Type.String()),
  }),
  ProviderIntentCreated: Type.Object({
    ...facts,
    provider_intent_id: Type.String(),
    client_secret: Nullable(Type.String()),
    attempt: Type.Integer(),
  }),
  ProviderOutcomeUnknown: Type.Object({ ...facts, attempt: Type.Integer(), reason: Type.String() }),
  /** The provider throttled the create call until its time was over: nothing was done, and the same call is made again. */
  ProviderCallThrottled: Type.Object({ ...facts, attempt: Type.Integer(), reason: Type.String() }),
  /** A further create call is about to be made, after one that surely did nothing. */
  PaymentAttemptStarted: Type.Object({ ...facts, attempt: Type.Integer() }),
  PaymentActionRequired: Type.Object({ ...facts, ...evidence }),
  PaymentProcessingStarted: Type.Object({ ...facts, ...evidence }),
  PaymentSucceeded: Type.Object({ ...facts, ...evidence }),
  PaymentAttemptFailed: Type.Object({
    ...facts,
    ...evidence,
    /** The provider's own code. */
    failure_code: Type.String(),
    failure_message: Type.String(),
    /** Set when the create call itself was refused; what its caller was told. Null for the provider's later statements. */
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
      /** Of the same provider time as the evidence there is, or else undecided: the provider itself will be asked. */
      Type.Literal('tie'),
      Type.Literal('final'),
      Type.Literal('foreign_intent'),
    ]),
  }),
  /** Money went back. `refunded_cents` is this refund alone; null when the provider did not say it in our currency. */
  PaymentRefundRecorded: Type.Object({
    ...facts,
    ...evidence,
    refund_id: Nullable(Type.String()),
    refunded_cents: Nullable(Type.Integer()),
  }),
  /** The payer contests the payment. `dispute_status` is the provider's own word. */
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
