// A payment as its events tell it.

import type { Fold } from '../messages.ts'
import type { Amounts } from '../money.ts'
import type { Payer, PaymentEvent, PaymentInitiated } from './events.ts'
import { isAbsorbing, type PaymentStatus } from './status.ts'

export type NoPayment = { readonly status: 'none' }

export type Payment = Amounts & {
  readonly status: PaymentStatus
  readonly payment_id: string
  readonly provider_id: string
  readonly currency: string
  readonly payer: Payer
  readonly project_id: string | null
  readonly concept: string | null
  readonly description: string | null
  readonly reference_code: string | null
  readonly category: string | null
  readonly tags: string | null
  readonly payment_method_id: string | null
  readonly is_guest_payment: boolean
  readonly guest_email: string | null
  readonly metadata: Readonly<Record<string, unknown>>
  readonly request_fingerprint: string | null
  readonly provider_intent_id: string | null
  readonly provider_payment_id: string | null
  readonly client_secret: string | null
  readonly created_at: string
  readonly updated_at: string
  readonly completed_at: string | null
  /** How often a create call was begun; it is part of the key that the provider sees. */
  readonly attempt: number
  readonly intent_outcome: IntentOutcome
  /** The provider's time of the evidence that the status rests on. */
  readonly evidence_time: string | null
  /** Provider events that were taken into account, so that a repeated one changes nothing. */
  readonly seen_provider_events: readonly string[]
}

/** How the call that creates the intent at the provider ended, as far as is known. */
export type IntentOutcome =
  | { readonly kind: 'open' | 'unknown' | 'created' }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string; readonly retryable: boolean }

export type PaymentState = NoPayment | Payment

export const noPayment: NoPayment = Object.freeze({ status: 'none' })

/** The history that every payment starts with. */
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
    intent_outcome: { kind: 'open' },
    evidence_time: null,
    seen_provider_events: [],
  }
}

type EvidenceEvent = Exclude<
  PaymentEvent,
  { type: 'PaymentInitiated' | 'ProviderIntentCreated' | 'ProviderOutcomeUnknown' }
>

/** Takes over what every piece of evidence brings, and the status that it leads to. */
function withEvidence(payment: Payment, { data }: EvidenceEvent, status: PaymentStatus = payment.status): Payment {
  const changed = status !== payment.status
  return {
    ...payment,
    status,
    updated_at: data.occurred_at,
    completed_at: changed && isAbsorbing(status) ? data.occurred_at : payment.completed_at,
    provider_payment_id: data.provider_payment_id ?? payment.provider_payment_id,
    evidence_time: data.provider_time,
    seen_provider_events: seen(payment, data.provider_event_id),
  }
}

/** Evidence that is kept on record and changes neither the status nor what the status rests on. */
function noted(payment: Payment, { data }: EvidenceEvent): Payment {
  return { ...payment, seen_provider_events: seen(payment, data.provider_event_id) }
}

const seen = (payment: Payment, eventId: string | null) =>
  eventId === null ? payment.seen_provider_events : [...payment.seen_provider_events, eventId]

/** The status that each event of evidence leads to; the decider only records what the status machine allows. */
function evolveExisting(payment: Payment, event: Exclude<PaymentEvent, PaymentInitiated>): Payment {
  switch (event.type) {
    case 'ProviderIntentCreated':
      return {
        ...payment,
        status: payment.status === 'failed' ? 'pending' : payment.status,
        provider_intent_id: event.data.provider_intent_id,
        client_secret: event.data.client_secret,
        updated_at: event.data.occurred_at,
        attempt: event.data.attempt,
        intent_outcome: { kind: 'created' },
      }
    case 'ProviderOutcomeUnknown':
      return { ...payment, attempt: event.data.attempt, intent_outcome: { kind: 'unknown' } }
    case 'PaymentActionRequired':
      return withEvidence(payment, event, 'pending')
    case 'PaymentProcessingStarted':
      return withEvidence(payment, event, 'processing')
    case 'PaymentSucceeded':
      return withEvidence(payment, event, 'succeeded')
    case 'PaymentCanceled':
      return withEvidence(payment, event, 'canceled')
    case 'PaymentAttemptFailed': {
      const failed = withEvidence(payment, event, 'failed')
      if (payment.provider_intent_id !== null) return failed
      const { failure_code: code, failure_message: message, retryable } = event.data
      return { ...failed, intent_outcome: { kind: 'refused', code, message, retryable } }
    }
    case 'PaymentAmountMismatch':
    case 'PaymentConflictDetected':
    case 'ProviderEventIgnored':
    case 'PaymentRefundRecorded':
    case 'PaymentDisputeRecorded':
      return noted(payment, event)
  }
}

/** Folds one event into a payment. Events before PaymentInitiated cannot be (the first append expects no stream). */
export function evolvePayment(state: PaymentState, event: PaymentEvent): PaymentState {
  if (event.type === 'PaymentInitiated') return initiated(event)
  return state.status === 'none' ? state : evolveExisting(state, event)
}

export const paymentFold: Fold<PaymentState, PaymentEvent> = { initialState: noPayment, evolve: evolvePayment }
