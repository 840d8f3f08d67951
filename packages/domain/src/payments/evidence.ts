// The status machine: what a provider's statement about a payment means for it.
import type { PaymentEvent } from './events.ts'
import { existing, factsOf, type Payment, type PaymentState } from './payment.ts'
import { isAbsorbing, type PaymentStatus } from './status.ts'

/** What a provider said about one payment, in our words. */
export type Evidence = {
  readonly status: PaymentStatus
  /** The provider's own time of the statement, ISO 8601; it orders statements that arrive out of order. */
  readonly provider_time: string
  /** `null` when the statement is the answer to a question of ours. */
  readonly provider_event_id: string | null
  readonly provider_intent_id: string | null
  readonly provider_payment_id: string | null
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
}

/**
 * Applies a provider's statement. Returns the event that it amounts to; `[]` when it says nothing new or was already
 * taken into account. A statement that may not change the payment is recorded all the same, never refused.
 */
export function recordEvidence(command: RecordEvidence, state: PaymentState): PaymentEvent[] {
  const payment = existing(state)
  if (command.provider_event_id !== null && payment.seen_provider_events.includes(command.provider_event_id)) return []
  if (isForeignIntent(command, payment)) return [ignored(command, payment, 'foreign_intent')]
  if (command.status === payment.status) return repeated(command, payment)
  if (payment.status === 'canceled' && command.status === 'succeeded')
    return [{ type: 'PaymentConflictDetected', data: { ...common(command, payment), reported_status: command.status } }]
  if (isAbsorbing(payment.status)) return [ignored(command, payment, 'final')]
  if (command.status === 'succeeded' && !amountMatches(command, payment)) return [mismatch(command, payment)]
  if (isAbsorbing(command.status)) return [statusEvent(command, payment)]
  if (isOlder(command, payment)) return [ignored(command, payment, 'stale')]
  // A payment does not go back from processing; what the provider last said is remembered all the same.
  if (payment.status === 'processing' && command.status === 'pending') return [ignored(command, payment, 'regression')]
  return [statusEvent(command, payment)]
}

/** The same status once more: the second proof of a final status is no news, a later statement of another one is. */
function repeated(command: RecordEvidence, payment: Payment): PaymentEvent[] {
  if (isAbsorbing(payment.status)) return []
  return [isOlder(command, payment) ? ignored(command, payment, 'stale') : statusEvent(command, payment)]
}

/**
 * Whether the statement is about another intent than the payment's. While the payment does not know its intent, a
 * statement that merely names the payment counts only as long as a create call may have made that intent.
 */
function isForeignIntent(command: RecordEvidence, payment: Payment): boolean {
  if (command.provider_intent_id === null) return false
  if (payment.provider_intent_id !== null) return payment.provider_intent_id !== command.provider_intent_id
  return !command.vouched && payment.intent_outcome.kind === 'refused'
}

function isOlder(command: Evidence, payment: Payment): boolean {
  return payment.evidence_time !== null && Date.parse(command.provider_time) < Date.parse(payment.evidence_time)
}

function amountMatches({ amount_cents, currency }: Evidence, payment: Payment): boolean {
  return (
    (amount_cents === null || amount_cents === payment.total_cents) &&
    (currency === null || currency.toUpperCase() === payment.currency)
  )
}

function common(command: RecordEvidence, payment: Payment) {
  const { provider_time, provider_event_id, provider_payment_id } = command
  return { ...factsOf(payment, command.occurred_at), provider_time, provider_event_id, provider_payment_id }
}

function ignored(
  command: RecordEvidence,
  payment: Payment,
  reason: 'stale' | 'regression' | 'final' | 'foreign_intent',
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
