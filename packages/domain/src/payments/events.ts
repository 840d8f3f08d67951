// The events of a payment.
import { type Static, type TSchema, Type } from 'typebox'
import type { EventsOf } from '../events.ts'
import { ClientObject, Id, Instant, Nullable } from '../fields.ts'
import { OwnerEvent, PersonalText, Sealed } from '../personalData.ts'
import { recordedTexts } from './clientTexts.ts'

/** The `user` of outgoing webhooks: a session's user, or a guest without an id. */
export const Payer = Type.Object({
  id: Nullable(Type.String()),
  type: Type.String(),
  email: PersonalText,
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
const PaymentFacts = Type.Object(facts)
export type PaymentFacts = Static<typeof PaymentFacts>

/** The text that a provider signed, exactly; null once it is no longer kept. */
export const SignedBody = Sealed('body', Type.String())

/** Why a call had no effect, as returned to its caller. Only after `provider_unavailable` it may be tried again. */
export const RejectionCode = Type.Enum([
  'payment_declined',
  'provider_rejected',
  'currency_not_supported',
  'provider_unavailable',
])
export type RejectionCode = Static<typeof RejectionCode>

/** In place of a provider's message that was erased. */
export const erasedMessage = 'The provider rejected the request'

export const CaptureMethod = Type.Enum(['automatic', 'manual'], { title: 'CaptureMethod' })
export type CaptureMethod = Static<typeof CaptureMethod>

export const RefundStatus = Type.Enum(['pending', 'succeeded', 'failed'], { title: 'RefundStatus' })
export type RefundStatus = Static<typeof RefundStatus>

export const RefundReason = Type.Enum(['duplicate', 'fraudulent', 'requested_by_customer', 'other'], {
  title: 'RefundReason',
})
export type RefundReason = Static<typeof RefundReason>

export const DisputeStatus = Type.Enum(['open', 'won', 'lost'], { title: 'DisputeStatus' })
export type DisputeStatus = Static<typeof DisputeStatus>

const ConflictCode = Type.Enum(['money_after_cancellation', 'unrequested_charge'])

/** What a human has to look at. */
export const AttentionCode = Type.Enum(
  ['amount_mismatch', ...ConflictCode.enum, 'refund_exceeds_payment', 'foreign_intent', 'reported_in_other_currency'],
  { title: 'AttentionCode' },
)
export type AttentionCode = Static<typeof AttentionCode>

/** The payment's status, which the event does not change. */
export const paymentStatuses = ['pending', 'processing', 'succeeded', 'failed', 'canceled'] as const
const paymentStatus = { payment_status: Type.Enum(paymentStatuses) }

/** Null unless a human has to look at it, and no earlier event of the payment says the same. */
const attention = <Code extends TSchema>(code: Code) => ({ attention: Nullable(code) })

/** What the provider reported of an amount in another currency than the payment's. Absent in events of 1.0.0. */
const reportedInOtherCurrency = {
  reported_amount_cents: Type.Optional(Nullable(Type.Integer())),
  reported_currency: Type.Optional(Nullable(Type.String())),
}

/** The source of a status. `provider_time` orders reports that arrive out of order. */
const report = {
  provider_time: Instant,
  /** Null when the source is the response to our own call. */
  provider_event_id: Nullable(Type.String()),
  provider_payment_id: Nullable(Type.String()),
}

export const paymentEvents = {
  PaymentInitiated: OwnerEvent({
    ...facts,
    subtotal_cents: Type.Integer(),
    tax_cents: Type.Integer(),
    discount_cents: Type.Integer(),
    total_cents: Type.Integer(),
    ...recordedTexts,
    payment_method_id: Nullable(Type.String()),
    /** The saved method at the provider, as used in the create call. */
    provider_method: Nullable(
      Type.Object({ provider_method_id: Type.String(), provider_customer_id: Nullable(Type.String()) }),
    ),
    is_guest_payment: Type.Boolean(),
    guest_email: Sealed('guest', Type.String()),
    guest_name: Sealed('guest', Type.String()),
    guest_phone: Sealed('guest', Type.String()),
    metadata: Sealed('personal', ClientObject()),
    /** With `manual` the money is authorized first, and an administrator captures it. */
    capture_method: CaptureMethod,
    return_url: PersonalText,
    cancel_url: PersonalText,
    statement_descriptor: Nullable(Type.String()),
    /** When the payment is canceled if nobody has paid it; null for never. */
    expires_at: Nullable(Instant),
    /** SHA-256 of the request; null without an Idempotency-Key. */
    request_fingerprint: PersonalText,
  }),
  ProviderIntentCreated: Type.Object({
    ...facts,
    provider_intent_id: Type.String(),
    client_secret: Sealed('secret', Type.String()),
    /** The provider's page, or ours that leads to it, where the payer pays. */
    redirect_url: Sealed('secret', Type.String()),
    attempt: Type.Integer(),
  }),
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
    /** Null when the notification does not name the intent. */
    reported_intent_id: Nullable(Type.String()),
    reported_amount_cents: Nullable(Type.Integer()),
    reported_currency: Nullable(Type.String()),
    reported_status: Nullable(Type.String()),
    /** Whether the notification names the payment, but its intent is not the payment's. */
    is_foreign_intent: Type.Boolean(),
    body: SignedBody,
  }),
  PaymentActionRequired: Type.Object({ ...facts, ...report }),
  PaymentProcessingStarted: Type.Object({
    ...facts,
    ...report,
    /** Authorized, and not captured yet. */
    capturable_cents: Type.Integer(),
    /** Whether the payer has approved, and we have to take the money. Absent in events of 1.0.0, which means no. */
    awaits_capture: Type.Optional(Type.Boolean()),
  }),
  PaymentSucceeded: Type.Object({
    ...facts,
    ...report,
    /** What was captured: less than the amount when only a part of what was authorized is. */
    received_cents: Type.Integer(),
  }),
  /** The payer tried to pay, and failed. */
  PaymentAttemptFailed: Type.Object({
    ...facts,
    ...report,
    /** The provider's code. */
    failure_code: Type.String(),
    failure_message: PersonalText,
  }),
  PaymentCanceled: Type.Object({ ...facts, ...report, reason: PersonalText }),
  PaymentAmountMismatch: Type.Object({
    ...facts,
    ...report,
    reported_amount_cents: Nullable(Type.Integer()),
    reported_currency: Nullable(Type.String()),
    ...attention(Type.Literal('amount_mismatch')),
  }),
  /** Money was taken for a canceled payment, or a second time. */
  PaymentConflictDetected: Type.Object({
    ...facts,
    ...report,
    reported_status: Type.String(),
    reported_amount_cents: Nullable(Type.Integer()),
    reported_currency: Nullable(Type.String()),
    ...attention(ConflictCode),
  }),
  ProviderEventIgnored: Type.Object({
    ...facts,
    ...report,
    reported_status: Type.String(),
    reason: Type.Union([
      Type.Literal('stale'),
      Type.Literal('regression'),
      /** The order cannot be decided, for example because provider times are equal: we will query the provider. */
      Type.Literal('tie'),
      Type.Literal('final'),
      Type.Literal('foreign_intent'),
    ]),
    /** Of a foreign intent. */
    reported_intent_id: Nullable(Type.String()),
    ...attention(Type.Literal('foreign_intent')),
  }),

  /** We are about to cancel the payment at the provider. */
  PaymentCancelRequested: Type.Object({ ...facts, reason: PersonalText, is_expiry: Type.Boolean() }),
  /** We are about to capture this much of what is authorized. */
  PaymentCaptureRequested: Type.Object({ ...facts, capture_cents: Type.Integer() }),
  /** We are about to refund this much of a charge. Repeated for a call that did not reach the provider. */
  RefundRequested: Type.Object({
    ...facts,
    refund_id: Id,
    refund_cents: Type.Integer(),
    reason: RefundReason,
    note: PersonalText,
    /** The charge; null when the provider did not name it. */
    provider_payment_id: Nullable(Type.String()),
    /** SHA-256 of the request; null without an Idempotency-Key. */
    request_fingerprint: PersonalText,
  }),
  /**
   * A call to the provider failed. It had no effect, except that the outcome may be unknown. After `unknown` and `throttled`
   * the same call is made again. The payment has failed when the call that creates its intent was rejected.
   */
  ProviderCallFailed: Type.Object({
    ...facts,
    call: Type.Enum(['create', 'cancel', 'capture', 'refund']),
    /** Of a create call. */
    attempt: Nullable(Type.Integer()),
    /** Of a refund call. */
    refund_id: Nullable(Id),
    outcome: Type.Enum(['unknown', 'throttled', 'rejected']),
    /** As returned to the caller; null for an unknown outcome. */
    error_code: Nullable(RejectionCode),
    /** The provider's code. */
    failure_code: Type.String(),
    failure_message: PersonalText,
  }),
  /** What the provider says of a refund: one of ours, or one that was made elsewhere or by the provider itself. */
  RefundRecorded: Type.Object({
    ...facts,
    ...report,
    /** Our id. */
    refund_id: Id,
    provider_refund_id: Nullable(Type.String()),
    /** Null when the provider did not report it in our currency. */
    refund_cents: Nullable(Type.Integer()),
    ...reportedInOtherCurrency,
    status: RefundStatus,
    /** Whether it had succeeded before it failed. */
    was_succeeded: Type.Boolean(),
    reason: RefundReason,
    note: PersonalText,
    failure_code: Nullable(Type.String()),
    ...paymentStatus,
    ...attention(Type.Enum(['refund_exceeds_payment', 'reported_in_other_currency'])),
  }),
  /** The payer disputes the payment, or the dispute has moved on. */
  PaymentDisputeRecorded: Type.Object({
    ...facts,
    ...report,
    /** Our id. */
    dispute_id: Id,
    provider_dispute_id: Nullable(Type.String()),
    status: DisputeStatus,
    /** Whether the dispute was opened or closed by this. */
    is_new_status: Type.Boolean(),
    /** The provider's word. */
    provider_status: Type.String(),
    reason: Nullable(Type.String()),
    evidence_due_by: Nullable(Instant),
    /** Null when the provider did not report it in our currency. */
    disputed_cents: Nullable(Type.Integer()),
    ...reportedInOtherCurrency,
    ...paymentStatus,
    /** Absent in events of 1.0.0. */
    attention: Type.Optional(Nullable(Type.Literal('reported_in_other_currency'))),
  }),
}

export type PaymentEvent = EventsOf<typeof paymentEvents>
export type PaymentInitiated = Extract<PaymentEvent, { type: 'PaymentInitiated' }>
