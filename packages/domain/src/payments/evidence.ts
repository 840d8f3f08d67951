// The status machine: what a provider's statement about a payment means for it.
import type { PaymentEvent } from './events.ts'
import { type EvidenceEvent, existing, factsOf, noticeOf, type Payment, type PaymentState } from './payment.ts'
import { isAbsorbing, type PaymentStatus } from './status.ts'

/** What every statement of a provider about one payment says, in our words. */
export type StatementSource = {
  /** The provider's own time of the statement, ISO 8601; it orders statements that arrive out of order. */
  readonly provider_time: string
  /** `null` when the statement is the answer to a question of ours. */
  readonly provider_event_id: string | null
  readonly provider_intent_id: string | null
  /** The charge, capture or transaction. */
  readonly provider_payment_id: string | null
}

/** What a provider said about the status of one payment. */
export type Evidence = StatementSource & {
  readonly status: PaymentStatus
  readonly amount_cents: number | null
  readonly currency: string | null
  readonly failure_code?: string
  readonly failure_message?: string
  readonly reason?: string
}

export type RecordEvidence = Evidence & {
  readonly occurred_at: string
  /** True when our own records say that the intent is this payment's, and not only the statement itself. */
  readonly vouched?: boolean
  /** How the statement came: by itself, from a provider that can be asked when it decides nothing; or as the answer. */
  readonly source?: 'notification' | 'askable_notification' | 'snapshot'
}

/**
 * Applies a provider's statement. Returns the event that it amounts to; `[]` when it says nothing new or was already
 * taken into account. A statement that may not change the payment is recorded all the same, never refused.
 *
 * A snapshot is what the provider holds to be true at this moment, so no notification can be newer: whoever applies one
 * sees to it that the payment has not changed since the question was asked. One that only disagrees is recorded once.
 */
export function recordEvidence(command: RecordEvidence, state: PaymentState): PaymentEvent[] {
  const payment = existing(state)
  if (isSeen(command, payment)) return []
  const event = decide(command, payment)
  if (event === null) return []
  const isOnRecord = isDisagreement(event) && payment.noticed.includes(noticeOf(event))
  return isOnRecord && (command.source === 'snapshot' || event.type === 'PaymentConflictDetected') ? [] : [event]
}

function decide(command: RecordEvidence, payment: Payment): PaymentEvent | null {
  if (isForeignIntent(command, payment)) return ignored(command, payment, 'foreign_intent')
  if (isSecondCharge(command, payment)) return conflict(command, payment)
  if (command.status === payment.status) return repeated(command, payment)
  if (payment.status === 'canceled' && command.status === 'succeeded') return conflict(command, payment)
  if (isAbsorbing(payment.status)) return ignored(command, payment, 'final')
  if (command.status === 'succeeded' && !amountMatches(command, payment)) return mismatch(command, payment)
  if (isAbsorbing(command.status) || command.source === 'snapshot') return statusEvent(command, payment)
  const age = ageOf(command, payment)
  if (age === 'older') return ignored(command, payment, 'stale')
  if (age === 'same' && command.source === 'askable_notification') return ignored(command, payment, 'tie')
  // A payment does not go back from processing; what the provider last said is remembered all the same.
  if (payment.status === 'processing' && command.status === 'pending') return ignored(command, payment, 'regression')
  return statusEvent(command, payment)
}

/** The same status once more: the second proof of a final status is no news, a later statement of another one is. */
function repeated(command: RecordEvidence, payment: Payment): PaymentEvent | null {
  if (isAbsorbing(payment.status) || command.source === 'snapshot') return null
  return ageOf(command, payment) === 'older' ? ignored(command, payment, 'stale') : statusEvent(command, payment)
}

export type RecordRefund = StatementSource & {
  readonly occurred_at: string
  readonly vouched?: boolean
  readonly refund_id: string | null
  readonly refunded_cents: number | null
}

/** Money went back to the payer. A fact beside the status, which stays. */
export function recordRefund(command: RecordRefund, state: PaymentState): PaymentEvent[] {
  const payment = existing(state)
  if (isSeen(command, payment)) return []
  if (isForeignIntent(command, payment)) return [ignored({ ...command, status: 'refunded' }, payment, 'foreign_intent')]
  const { refund_id, refunded_cents } = command
  return [{ type: 'PaymentRefundRecorded', data: { ...common(command, payment), refund_id, refunded_cents } }]
}

export type RecordDispute = StatementSource & {
  readonly occurred_at: string
  readonly vouched?: boolean
  readonly dispute_id: string | null
  readonly dispute_status: string
  readonly disputed_cents: number | null
}

/** The payer contests the payment, or a contest moves on. A fact beside the status, which stays. */
export function recordDispute(command: RecordDispute, state: PaymentState): PaymentEvent[] {
  const payment = existing(state)
  if (isSeen(command, payment)) return []
  if (isForeignIntent(command, payment)) return [ignored({ ...command, status: 'disputed' }, payment, 'foreign_intent')]
  const { dispute_id, dispute_status, disputed_cents } = command
  return [
    {
      type: 'PaymentDisputeRecorded',
      data: { ...common(command, payment), dispute_id, dispute_status, disputed_cents },
    },
  ]
}

function isSeen({ provider_event_id }: StatementSource, payment: Payment): boolean {
  return provider_event_id !== null && payment.seen_provider_events.includes(provider_event_id)
}

type Disagreement = Extract<
  EvidenceEvent,
  { type: 'PaymentAmountMismatch' | 'PaymentConflictDetected' | 'ProviderEventIgnored' }
>

function isDisagreement(event: PaymentEvent): event is Disagreement {
  return (
    event.type === 'PaymentAmountMismatch' ||
    event.type === 'PaymentConflictDetected' ||
    event.type === 'ProviderEventIgnored'
  )
}

/**
 * Whether the statement is about another intent than the payment's. While the payment does not know its intent, a
 * statement that merely names the payment counts only as long as a create call may have made that intent.
 */
function isForeignIntent(
  command: StatementSource & { readonly vouched?: boolean | undefined },
  payment: Payment,
): boolean {
  if (command.provider_intent_id === null) return false
  if (payment.provider_intent_id !== null) return payment.provider_intent_id !== command.provider_intent_id
  return !command.vouched && payment.intent_outcome.kind === 'refused'
}

/** Whether the payer was charged once more for a payment that has succeeded by another charge. */
function isSecondCharge(command: Evidence, payment: Payment): boolean {
  return (
    command.status === 'succeeded' &&
    payment.status === 'succeeded' &&
    command.provider_payment_id !== null &&
    payment.provider_payment_id !== null &&
    command.provider_payment_id !== payment.provider_payment_id
  )
}

function ageOf(command: StatementSource, payment: Payment): 'older' | 'same' | 'newer' {
  if (payment.evidence_time === null) return 'newer'
  const ahead = Date.parse(command.provider_time) - Date.parse(payment.evidence_time)
  if (ahead === 0) return 'same'
  return ahead < 0 ? 'older' : 'newer'
}

/** Whether what was paid is what was to be paid. What the provider does not say is taken to be right. */
export function amountMatches({ amount_cents, currency }: Evidence, payment: Payment): boolean {
  return (
    (amount_cents === null || amount_cents === payment.total_cents) &&
    (currency === null || currency.toUpperCase() === payment.currency)
  )
}

function common(command: StatementSource & { readonly occurred_at: string }, payment: Payment) {
  const { provider_time, provider_event_id, provider_payment_id } = command
  return { ...factsOf(payment, command.occurred_at), provider_time, provider_event_id, provider_payment_id }
}

function conflict(command: RecordEvidence, payment: Payment): PaymentEvent {
  return { type: 'PaymentConflictDetected', data: { ...common(command, payment), reported_status: command.status } }
}

function ignored(
  command: StatementSource & { readonly occurred_at: string; readonly status: string },
  payment: Payment,
  reason: Extract<PaymentEvent, { type: 'ProviderEventIgnored' }>['data']['reason'],
): PaymentEvent {
  return {
    type: 'ProviderEventIgnored',
    data: { ...common(command, payment), reported_status: command.status, reason },
  }
}

function mismatch(command: RecordEvidence, payment: Payment): PaymentEvent {
  return {
    type: 'PaymentAmountMismatch',
    data: {
      ...common(command, payment),
      reported_amount_cents: command.amount_cents,
      reported_currency: command.currency?.toUpperCase() ?? null,
    },
  }
}

/** The event by which a payment takes on the status that the provider reports. */
function statusEvent(command: RecordEvidence, payment: Payment): PaymentEvent {
  const data = common(command, payment)
  switch (command.status) {
    case 'pending':
      return { type: 'PaymentActionRequired', data }
    case 'processing':
      return { type: 'PaymentProcessingStarted', data }
    case 'succeeded':
      return { type: 'PaymentSucceeded', data }
    case 'canceled':
      return { type: 'PaymentCanceled', data: { ...data, reason: command.reason ?? null } }
    case 'failed':
      return {
        type: 'PaymentAttemptFailed',
        data: {
          ...data,
          failure_code: command.failure_code ?? 'failed',
          failure_message: command.failure_message ?? 'The provider reported that the payment failed',
          refusal: null,
        },
      }
  }
}
