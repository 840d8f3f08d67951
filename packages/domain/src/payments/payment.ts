// The five statuses of a payment.
import { type Static, Type } from 'typebox'
import { DomainError } from '../errors.ts'
import type { DomainEvent, Fold } from '../events.ts'
import type { IntentRejection, PaymentEvent, PaymentInitiated } from './events.ts'

export const PaymentStatus = Type.Enum(['pending', 'processing', 'succeeded', 'failed', 'canceled'])
export type PaymentStatus = Static<typeof PaymentStatus>

/** Statuses that are never left. `failed` is not one of them: a declined attempt may be followed by a successful one. */
export function isAbsorbing(status: PaymentStatus): boolean {
  return status === 'succeeded' || status === 'canceled'
}

// A list that grows without being copied, so that a fold takes the same time for the ten-thousandth event as for the first.

/** The item that was added last, and those before it; `null` when there is none. */
export type Chain<Item> = { readonly last: Item; readonly before: Chain<Item> } | null

/** Whether an item is in it. */
export function isInChain<Item>(item: Item, chain: Chain<Item>): boolean {
  for (let link = chain; link !== null; link = link.before) if (link.last === item) return true
  return false
}

// What is on record about a payment beside its status, so that the same thing is not recorded for ever.

const nonStatusEventTypes = [
  'PaymentAmountMismatch',
  'PaymentConflictDetected',
  'ProviderEventIgnored',
  'PaymentRefundRecorded',
  'PaymentDisputeRecorded',
] as const

/** An event that brings neither a status nor the end of a call. */
export type NonStatusEvent = Extract<PaymentEvent, { type: (typeof nonStatusEventTypes)[number] }>

/** What a notice tells, apart from when and how it became known. */
export function contentKey(event: NonStatusEvent): string {
  return JSON.stringify([event.type, ...contentFields(event)])
}

/** Whether an event is a notice and tells what an earlier one told. */
export function isDuplicate(event: PaymentEvent, { noticed }: { readonly noticed: Chain<string> }): boolean {
  return isNonStatusEvent(event) && isInChain(contentKey(event), noticed)
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

// A payment as its events tell it.

export type NoPayment = { readonly status: 'none' }

/** Of what it began with, all but what is told otherwise below and what only the event is to keep. */
type InitialFields = Omit<PaymentInitiated['data'], 'occurred_at' | 'amount_cents' | 'guest_name' | 'guest_phone'>

export type Payment = InitialFields & {
  readonly status: PaymentStatus
  readonly provider_intent_id: string | null
  readonly provider_payment_id: string | null
  readonly client_secret: string | null
  readonly created_at: string
  readonly updated_at: string
  readonly completed_at: string | null
  /** The number of the latest create call; it is part of the key that the provider sees. */
  readonly attempt: number
  /** When the latest create call was begun; the provider forgets its key some time after. */
  readonly attempt_started_at: string
  readonly intent_outcome: IntentOutcome
  /** Whether it was ever unknown how a create call ended, so that nobody was told of the intent in time. */
  readonly was_unknown: boolean
  /** The provider's time of the newest evidence that was taken over. */
  readonly evidence_time: string | null
  /** Provider events that were taken into account, so that a repeated one changes nothing. */
  readonly seen_provider_events: Chain<string>
  /** What is on record beside the status, so that asking the provider again records it no second time. */
  readonly noticed: Chain<string>
  /** How often the provider reported a failed attempt to pay; a capture after each of them is another one. */
  readonly failures: number
  /** The charges that these attempts were, as far as they had one: a failure that is told twice is one failure. */
  readonly failed_charges: readonly string[]
  /** How often the provider has told by itself, early or late, that a payer has approved. */
  readonly approvals_told: number
}

/** How the call that creates the intent at the provider ended, as far as is known. */
export type IntentOutcome =
  | { readonly kind: 'open' | 'throttled' | 'unknown' | 'created' }
  | { readonly kind: 'refused'; readonly refusal: IntentRejection; readonly message: string }

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
    attempt_started_at: occurred_at,
    intent_outcome: { kind: 'open' },
    was_unknown: false,
    evidence_time: null,
    seen_provider_events: null,
    noticed: null,
    failures: 0,
    failed_charges: [],
    approvals_told: 0,
  }
}

type ProviderCallEnd = 'ProviderOutcomeUnknown' | 'ProviderCallThrottled'

type EvidenceEvent = Exclude<
  PaymentEvent,
  { type: 'PaymentInitiated' | 'ProviderIntentCreated' | ProviderCallEnd | 'PaymentAttemptStarted' }
>

type Ignored = Extract<PaymentEvent, { type: 'ProviderEventIgnored' }>

/** Takes over what every piece of evidence brings, and the status that it leads to. */
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

/** A statement that counts whatever its time is leaves the others as old as they are. */
function laterOf(known: string | null, other: string): string {
  return known !== null && Date.parse(known) > Date.parse(other) ? known : other
}

/** Evidence that is kept on record beside the status. */
function withNonStatusEvent(payment: Payment, event: NonStatusEvent): Payment {
  const recorded = {
    ...payment,
    seen_provider_events: seen(payment, event.data.provider_event_id),
    noticed: { last: contentKey(event), before: payment.noticed },
  }
  return event.type === 'ProviderEventIgnored' ? withIgnored(recorded, event) : recorded
}

const seen = ({ seen_provider_events: before }: Payment, eventId: string | null): Chain<string> =>
  eventId === null ? before : { last: eventId, before }

function withIgnored(payment: Payment, { data }: Ignored): Payment {
  const { reason, reported_status, provider_time } = data
  // What it says is not taken over, but it is the newest that the provider has said: older statements are stale.
  if (reason === 'regression') return { ...payment, evidence_time: provider_time }
  const isApproval = reported_status === 'processing' && (reason === 'tie' || reason === 'stale')
  return isApproval ? withApproval(payment, data) : payment
}

/** An attempt to pay that the provider reported as failed. */
function withFailure(payment: Payment, charge: string | null): Payment {
  const { failures, failed_charges } = payment
  return {
    ...payment,
    failures: failures + 1,
    failed_charges: charge === null ? failed_charges : [...failed_charges, charge],
  }
}

/** What was told of the payer's approval; of what follows it, a charge is told as well. */
function withApproval(payment: Payment, { provider_event_id, provider_payment_id }: EvidenceEvent['data']): Payment {
  if (provider_event_id === null || provider_payment_id !== null) return payment
  return { ...payment, approvals_told: payment.approvals_told + 1 }
}

/** The status that each event of evidence leads to; the decider only records what the status machine allows. */
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
      // The time of our own call is by our clock, and is not compared with the provider's.
      return { ...failed, evidence_time: payment.evidence_time, intent_outcome: { kind: 'refused', refusal, message } }
    }
  }
}

/** Events before PaymentInitiated cannot be (the first append expects no stream). */
export const paymentFold: Fold<PaymentState, PaymentEvent> = {
  initialState: noPayment,
  evolve(state, event) {
    if (event.type === 'PaymentInitiated') return initiated(event)
    return state.status === 'none' ? state : evolveExisting(state, event)
  },
}

/** A payment that must be there. @throws DomainError `not_found` */
export function existingPayment(state: PaymentState): Payment {
  if (state.status === 'none') throw new DomainError('not_found', 'No payment with this id')
  return state
}

/** What every event of a payment repeats about it. */
export function factsOf(payment: Payment, occurred_at: string) {
  const { payment_id, provider_id, total_cents: amount_cents, currency, payer, project_id } = payment
  return { payment_id, occurred_at, provider_id, amount_cents, currency, payer, project_id }
}
