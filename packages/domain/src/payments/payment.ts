// Payment state, folded from its events.
import { type Static, Type } from 'typebox'
import { DomainError } from '../errors.ts'
import type { DomainEvent, Fold } from '../events.ts'
import type { IntentRejection, PaymentEvent, PaymentInitiated } from './events.ts'

export const PaymentStatus = Type.Enum(['pending', 'processing', 'succeeded', 'failed', 'canceled'])
export type PaymentStatus = Static<typeof PaymentStatus>

/** Whether a status is final. `failed` is not: a declined attempt may be followed by a successful one. */
export function isAbsorbing(status: PaymentStatus): boolean {
  return status === 'succeeded' || status === 'canceled'
}

/** A linked list, latest item first; `null` when empty. Appending copies nothing, so folding many events stays linear. */
export type Chain<Item> = { readonly last: Item; readonly before: Chain<Item> } | null

export type NoPayment = { readonly status: 'none' }

/** The fields of PaymentInitiated that the state keeps unchanged. */
type InitialFields = Omit<PaymentInitiated['data'], 'occurred_at' | 'amount_cents' | 'guest_name' | 'guest_phone'>

export type Payment = InitialFields & {
  readonly status: PaymentStatus
  readonly provider_intent_id: string | null
  readonly provider_payment_id: string | null
  readonly client_secret: string | null
  readonly created_at: string
  readonly updated_at: string
  readonly completed_at: string | null
  /** The number of the latest intent attempt; part of the provider's idempotency key. */
  readonly attempt: number
  /** When the latest intent attempt began. Some time after this the provider forgets the idempotency key. */
  readonly attempt_started_at: string
  readonly intent_outcome: IntentOutcome
  /** Whether the outcome of a create call was ever unknown, so that its caller got no intent. */
  readonly was_unknown: boolean
  /** The provider time of the newest report that was applied. */
  readonly evidence_time: string | null
  /** The notifications received so far, so that a repeated one changes nothing. */
  readonly seen_provider_events: Chain<string>
  /** Content keys of the recorded non-status events, so that another snapshot does not record them again. */
  readonly recorded_content: Chain<string>
  /** How many failed payment attempts the provider reported. A capture after each of them is a new one. */
  readonly failures: number
  /** The charges of these attempts, where known, so that a failure reported twice counts once. */
  readonly failed_charges: readonly string[]
  /** The intent of the first notification of this attempt; counts until the payment's own intent is recorded. */
  readonly reported_intent_id: string | null
  /** How many notifications reported an approval by the payer, in or out of order. */
  readonly approvals_reported: number
}

/** The outcome of the call that creates the intent, as far as known. */
export type IntentOutcome =
  | { readonly kind: 'open' | 'throttled' | 'unknown' | 'created' }
  | { readonly kind: 'rejected'; readonly refusal: IntentRejection; readonly message: string }

export type PaymentState = NoPayment | Payment

export const noPayment: NoPayment = Object.freeze({ status: 'none' })

/** Ignores events before PaymentInitiated, which cannot occur: the first append expects no stream. */
export const paymentFold: Fold<PaymentState, PaymentEvent> = {
  initialState: noPayment,
  evolve(state, event) {
    if (event.type === 'PaymentInitiated') return initiated(event)
    return state.status === 'none' ? state : evolveExisting(state, event)
  },
}

/** @throws DomainError `not_found` */
export function existingPayment(state: PaymentState): Payment {
  if (state.status === 'none') throw new DomainError('not_found', 'No payment with this id')
  return state
}

/** A provider call that has begun and has not ended. The reconciler finishes it. */
export type OpenCall = {
  /** When somebody began to make it; null when nobody does any more. */
  readonly begun_at: string | null
  /** Whether it may have had an effect at the provider. */
  readonly mayHaveEffect: boolean
}

/** The call that creates the payment's intent, unless it has ended. */
export function openCallOf({ intent_outcome: { kind }, attempt_started_at }: Payment): OpenCall | null {
  switch (kind) {
    case 'open':
      return { begun_at: attempt_started_at, mayHaveEffect: true }
    case 'unknown':
      return { begun_at: null, mayHaveEffect: true }
    case 'throttled':
      return { begun_at: null, mayHaveEffect: false }
    case 'created':
    case 'rejected':
      return null
  }
}

/** The fields of every event of this payment. */
export function factsOf(payment: Payment, occurred_at: string) {
  const { payment_id, provider_id, total_cents: amount_cents, currency, payer, project_id } = payment
  return { payment_id, occurred_at, provider_id, amount_cents, currency, payer, project_id }
}

const nonStatusEventTypes = [
  'PaymentAmountMismatch',
  'PaymentConflictDetected',
  'ProviderEventIgnored',
  'PaymentRefundRecorded',
  'PaymentDisputeRecorded',
] as const

/** An event that neither changes the status nor records the outcome of a call. */
export type NonStatusEvent = Extract<PaymentEvent, { type: (typeof nonStatusEventTypes)[number] }>

/** Identifies the content of an event, regardless of its time and source. */
export function contentKey(event: NonStatusEvent): string {
  return JSON.stringify([event.type, ...contentFields(event)])
}

/** Whether this is a non-status event whose content is already recorded. */
export function isDuplicate(
  event: PaymentEvent,
  { recorded_content }: { readonly recorded_content: Chain<string> },
): boolean {
  return isNonStatusEvent(event) && isInChain(contentKey(event), recorded_content)
}

export function isNonStatusEvent(event: DomainEvent): event is NonStatusEvent {
  return nonStatusEventTypes.some((type) => type === event.type)
}

function contentFields({ type, data }: NonStatusEvent): readonly (string | number | null)[] {
  switch (type) {
    case 'PaymentAmountMismatch':
      return [data.provider_payment_id, data.reported_amount_cents, data.reported_currency]
    case 'PaymentConflictDetected':
      return [data.provider_payment_id, data.reported_status]
    case 'ProviderEventIgnored':
      return [data.provider_payment_id, data.reported_status, data.reason]
    case 'PaymentRefundRecorded':
      return [data.refund_id]
    case 'PaymentDisputeRecorded':
      return [data.dispute_id, data.dispute_status]
  }
}

export function isInChain<Item>(item: Item, chain: Chain<Item>): boolean {
  for (let link = chain; link !== null; link = link.before) if (link.last === item) return true
  return false
}

function initiated({ data }: PaymentInitiated): Payment {
  const { occurred_at, amount_cents: _sameAsTotal, guest_name: _name, guest_phone: _phone, ...rest } = data
  return {
    ...rest,
    status: 'pending',
    provider_intent_id: null,
    provider_payment_id: null,
    client_secret: null,
    created_at: occurred_at,
    updated_at: occurred_at,
    completed_at: null,
    attempt: 1,
    attempt_started_at: occurred_at,
    intent_outcome: { kind: 'open' },
    was_unknown: false,
    evidence_time: null,
    seen_provider_events: null,
    recorded_content: null,
    failures: 0,
    failed_charges: [],
    reported_intent_id: null,
    approvals_reported: 0,
  }
}

/** An event about what the provider reported of the payment. */
type EvidenceEvent = Extract<PaymentEvent, { readonly data: { readonly provider_payment_id: unknown } }>

type Ignored = Extract<PaymentEvent, { type: 'ProviderEventIgnored' }>

/** Applies the fields of any report, and the new status. */
function withEvidence(payment: Payment, { data }: EvidenceEvent, status: PaymentStatus = payment.status): Payment {
  const changed = status !== payment.status
  return {
    ...payment,
    status,
    updated_at: data.occurred_at,
    completed_at: changed && isAbsorbing(status) ? data.occurred_at : payment.completed_at,
    provider_payment_id: data.provider_payment_id ?? payment.provider_payment_id,
    evidence_time: laterOf(payment.evidence_time, data.provider_time),
    seen_provider_events: seen(payment, data.provider_event_id),
  }
}

/** The later time. A report that counts regardless of its time may be older than the newest one. */
function laterOf(time: string | null, other: string): string {
  return time !== null && Date.parse(time) > Date.parse(other) ? time : other
}

function withNonStatusEvent(payment: Payment, event: NonStatusEvent): Payment {
  const recorded = {
    ...payment,
    seen_provider_events: seen(payment, event.data.provider_event_id),
    recorded_content: { last: contentKey(event), before: payment.recorded_content },
  }
  return event.type === 'ProviderEventIgnored' ? withIgnored(recorded, event) : recorded
}

/** What follows from a notification comes right after it, with the same id. */
const seen = ({ seen_provider_events: before }: Payment, eventId: string | null): Chain<string> =>
  eventId === null || eventId === before?.last ? before : { last: eventId, before }

function withIgnored(payment: Payment, { data }: Ignored): Payment {
  const { reason, reported_status, provider_time } = data
  // The status is not applied, but the time is: reports older than this one are stale.
  if (reason === 'regression') return { ...payment, evidence_time: provider_time }
  const isApproval = reported_status === 'processing' && (reason === 'tie' || reason === 'stale')
  return isApproval ? withApproval(payment, data) : payment
}

/** Counts a payment attempt that the provider reported as failed. */
function withFailure(payment: Payment, charge: string | null): Payment {
  const { failures, failed_charges } = payment
  return {
    ...payment,
    failures: failures + 1,
    failed_charges: charge === null ? failed_charges : [...failed_charges, charge],
  }
}

/** Counts an approval by the payer. A report with a charge is about a capture, which follows the approval. */
function withApproval(payment: Payment, { provider_event_id, provider_payment_id }: EvidenceEvent['data']): Payment {
  if (provider_event_id === null || provider_payment_id !== null) return payment
  return { ...payment, approvals_reported: payment.approvals_reported + 1 }
}

function evolveExisting(payment: Payment, event: Exclude<PaymentEvent, PaymentInitiated>): Payment {
  if (isNonStatusEvent(event)) return withNonStatusEvent(payment, event)
  switch (event.type) {
    case 'ProviderIntentCreated':
      return {
        ...payment,
        provider_intent_id: event.data.provider_intent_id,
        client_secret: event.data.client_secret,
        updated_at: event.data.occurred_at,
        attempt: event.data.attempt,
        intent_outcome: { kind: 'created' },
      }
    case 'ProviderOutcomeUnknown':
      return { ...payment, attempt: event.data.attempt, intent_outcome: { kind: 'unknown' }, was_unknown: true }
    case 'ProviderCallThrottled':
      return { ...payment, attempt: event.data.attempt, intent_outcome: { kind: 'throttled' } }
    case 'PaymentAttemptStarted':
      return {
        ...payment,
        status: 'pending',
        updated_at: event.data.occurred_at,
        attempt: event.data.attempt,
        attempt_started_at: event.data.occurred_at,
        intent_outcome: { kind: 'open' },
        reported_intent_id: null,
      }
    case 'ProviderNotificationReceived': {
      const { provider_event_id, reported_intent_id = null, is_foreign_intent } = event.data
      return {
        ...payment,
        seen_provider_events: seen(payment, provider_event_id),
        reported_intent_id: payment.reported_intent_id ?? (is_foreign_intent ? null : reported_intent_id),
      }
    }
    case 'PaymentActionRequired':
      return withEvidence(payment, event, 'pending')
    case 'PaymentProcessingStarted':
      return withApproval(withEvidence(payment, event, 'processing'), event.data)
    case 'PaymentSucceeded':
      return withEvidence(payment, event, 'succeeded')
    case 'PaymentCanceled':
      return withEvidence(payment, event, 'canceled')
    case 'PaymentAttemptFailed': {
      const failed = withEvidence(payment, event, 'failed')
      const { refusal, failure_message: message } = event.data
      if (refusal === null) return withFailure(failed, event.data.provider_payment_id)
      // The time of our own call is by our clock and must not be compared with provider times.
      return { ...failed, evidence_time: payment.evidence_time, intent_outcome: { kind: 'rejected', refusal, message } }
    }
  }
}
