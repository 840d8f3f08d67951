// What all statements of a provider about one payment have in common, whatever they say.

import type { PaymentEvent } from './events.ts'
import {
  existingPayment,
  factsOf,
  isAbsorbing,
  isDuplicate,
  isInChain,
  type Payment,
  type PaymentState,
  type PaymentStatus,
} from './payment.ts'

/** What every statement of a provider about one payment says, in our words. */
export type ReportSource = {
  /** The provider's own time of the statement, ISO 8601; it orders statements that arrive out of order. */
  readonly provider_time: string
  /** `null` when the statement is the answer to a question of ours. */
  readonly provider_event_id: string | null
  readonly provider_intent_id: string | null
  /** The charge, capture or transaction that the statement is about; of a failure the one that failed, if there is one. */
  readonly provider_payment_id: string | null
}

/** A statement as its receiver hands it on. */
export type ReceivedReport = ReportSource & {
  readonly occurred_at: string
  /** True when our own records say that the intent is this payment's, and not only the statement itself. */
  readonly vouched?: boolean | undefined
}

/** Whether this very notification was taken into account before. */
function isAppliedBefore({ provider_event_id }: ReportSource, payment: Payment): boolean {
  return provider_event_id !== null && isInChain(provider_event_id, payment.seen_provider_events)
}

/**
 * Whether the statement is about another intent than the payment's. While the payment does not know its intent, a
 * statement that merely names the payment counts only as long as a create call may have made that intent.
 */
export function isForeignIntent({ provider_intent_id, vouched }: ReceivedReport, payment: Payment): boolean {
  if (provider_intent_id === null) return false
  if (payment.provider_intent_id !== null) return payment.provider_intent_id !== provider_intent_id
  return !vouched && payment.intent_outcome.kind === 'refused'
}

/** What every event says that a statement leads to. */
function reportFacts(report: ReceivedReport, payment: Payment) {
  const { provider_time, provider_event_id, provider_payment_id } = report
  return { ...factsOf(payment, report.occurred_at), provider_time, provider_event_id, provider_payment_id }
}

/** A statement that changes nothing, on record. */
export type IgnoredReport = Extract<PaymentEvent, { type: 'ProviderEventIgnored' }>

/** Puts a statement on record that changes nothing. */
function ignoredReport(
  report: ReceivedReport,
  payment: Payment,
  why: Pick<IgnoredReport['data'], 'reported_status' | 'reason'>,
): IgnoredReport {
  const { reported_status, reason } = why
  return { type: 'ProviderEventIgnored', data: { ...reportFacts(report, payment), reported_status, reason } }
}

// The status machine: what a provider's statement about a payment's status means for it.

/** What a provider said about the status of one payment. */
export type Evidence = ReportSource & {
  readonly status: PaymentStatus
  readonly amount_cents: number | null
  readonly currency: string | null
  readonly failure_code?: string
  readonly failure_message?: string
  readonly reason?: string
}

export type RecordEvidence = ReceivedReport &
  Evidence & {
    /**
     * How the statement came: by itself, which is the default; by itself from a provider that can be asked when it
     * decides nothing; or as the answer to such a question.
     */
    readonly source?: 'notification' | 'askable_notification' | 'snapshot'
  }

/**
 * Applies a provider's statement. Returns the event that it amounts to; `[]` when it says nothing new or was already
 * taken into account. A statement that may not change the payment is recorded all the same, never refused.
 *
 * A snapshot is what the provider holds to be true at this moment, so no notification can be newer: whoever applies one
 * sees to it that the payment has not changed since the question was asked. One that only disagrees is recorded once,
 * and so is money that was taken wrongly, whoever tells of it.
 */
export function recordEvidence(command: RecordEvidence, state: PaymentState): PaymentEvent[] {
  const payment = existingPayment(state)
  if (isAppliedBefore(command, payment)) return []
  const event = decide(command, payment)
  if (event === null) return []
  const isRecordedOnce = command.source === 'snapshot' || event.type !== 'ProviderEventIgnored'
  return isRecordedOnce && isDuplicate(event, payment) ? [] : [event]
}

function decide(command: RecordEvidence, payment: Payment): PaymentEvent | null {
  const reported_status = command.status
  const ignoredBecause = (reason: IgnoredReport['data']['reason']) =>
    ignoredReport(command, payment, { reported_status, reason })
  if (isForeignIntent(command, payment)) return ignoredBecause('foreign_intent')
  if (isConflict(command, payment))
    return { type: 'PaymentConflictDetected', data: { ...reportFacts(command, payment), reported_status } }
  if (command.status === 'succeeded' && !amountMatches(command, payment)) return mismatch(command, payment)
  if (command.status === payment.status) return sameStatus(command, payment)
  if (isAbsorbing(payment.status)) return ignoredBecause('final')
  if (isAbsorbing(command.status) || command.source === 'snapshot') return statusEvent(command, payment)
  const age = compareAge(command, payment)
  if (age === 'older') return ignoredBecause('stale')
  if (age === 'undecided') return ignoredBecause('tie')
  // A payment does not go back from processing; what the provider last said is remembered all the same.
  if (payment.status === 'processing' && command.status === 'pending') return ignoredBecause('regression')
  return statusEvent(command, payment)
}

/**
 * The same status once more. The second proof of a final status is no news, and neither is a failure that is on record;
 * the failure of another charge is, and so is what the provider says later of its own accord.
 */
function sameStatus(command: RecordEvidence, payment: Payment): PaymentEvent | null {
  if (isAbsorbing(payment.status) || isRecordedFailure(command, payment)) return null
  const isOtherFailure = command.status === 'failed' && command.provider_payment_id !== null
  if (command.source === 'snapshot') return isOtherFailure ? statusEvent(command, payment) : null
  const age = compareAge(command, payment)
  if (age === 'older') return ignoredReport(command, payment, { reported_status: command.status, reason: 'stale' })
  return age === 'newer' || isOtherFailure ? statusEvent(command, payment) : null
}

/** Whether money was taken for a canceled payment, or by a second charge for one that has succeeded. */
function isConflict({ status, provider_payment_id }: Evidence, payment: Payment): boolean {
  if (status !== 'succeeded') return false
  if (payment.status === 'canceled') return true
  const { provider_payment_id: known, failed_charges } = payment
  const isOther = known !== null && provider_payment_id !== null && known !== provider_payment_id
  // A success that named no charge leaves the id of the attempt before it, which took nothing.
  return payment.status === 'succeeded' && isOther && !failed_charges.includes(known)
}

/** Whether the statement tells of an attempt that is on record as failed. */
function isRecordedFailure({ status, provider_payment_id }: Evidence, { failed_charges }: Payment): boolean {
  return status === 'failed' && provider_payment_id !== null && failed_charges.includes(provider_payment_id)
}

/**
 * Which of the two the provider said later. Their times do not decide when they are the same, nor when the failure of an
 * attempt is told again after the payer has begun another one. The later arrival counts where nobody can be asked.
 */
function compareAge(command: RecordEvidence, payment: Payment): 'older' | 'undecided' | 'newer' {
  if (payment.evidence_time === null) return 'newer'
  const ahead = timeDifference(command.provider_time, payment.evidence_time)
  if (ahead < 0) return 'older'
  const isDecided = ahead > 0 && !isRecordedFailure(command, payment)
  return isDecided || command.source !== 'askable_notification' ? 'newer' : 'undecided'
}

/** How far a time is ahead of another. Of one that is told in whole seconds it is not known when in its second it was. */
function timeDifference(time: string, other: string): number {
  const times = [Date.parse(time), Date.parse(other)] as const
  const isCoarse = times.some((each) => each % 1000 === 0)
  const [a, b] = isCoarse ? [Math.floor(times[0] / 1000), Math.floor(times[1] / 1000)] : times
  return a - b
}

/** Whether what was paid is what was to be paid. What the provider does not say is taken to be right. */
export function amountMatches({ amount_cents, currency }: Evidence, payment: Payment): boolean {
  return (
    (amount_cents === null || amount_cents === payment.total_cents) &&
    (currency === null || currency.toUpperCase() === payment.currency)
  )
}

function mismatch(command: RecordEvidence, payment: Payment): PaymentEvent {
  return {
    type: 'PaymentAmountMismatch',
    data: {
      ...reportFacts(command, payment),
      reported_amount_cents: command.amount_cents,
      reported_currency: command.currency?.toUpperCase() ?? null,
    },
  }
}

/** The event by which a payment takes on the status that the provider reports. */
function statusEvent(command: RecordEvidence, payment: Payment): PaymentEvent {
  const data = reportFacts(command, payment)
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

// Money that goes back to the payer, or may have to: refunds and disputes are facts beside the status, which stays.

export type RecordRefund = ReceivedReport & {
  readonly refund_id: string | null
  readonly refunded_cents: number | null
}

/** Money went back to the payer. A refund that the provider tells of twice is one refund. */
export function recordRefund(command: RecordRefund, state: PaymentState): PaymentEvent[] {
  const payment = existingPayment(state)
  if (isAppliedBefore(command, payment)) return []
  if (isForeignIntent(command, payment))
    return [ignoredReport(command, payment, { reported_status: 'refunded', reason: 'foreign_intent' })]
  const { refund_id, refunded_cents } = command
  const event: PaymentEvent = {
    type: 'PaymentRefundRecorded',
    data: { ...reportFacts(command, payment), refund_id, refunded_cents },
  }
  return refund_id !== null && isDuplicate(event, payment) ? [] : [event]
}

export type RecordDispute = ReceivedReport & {
  readonly dispute_id: string | null
  readonly dispute_status: string
  readonly disputed_cents: number | null
}

/** The payer contests the payment, or a contest moves on. The same status of the same dispute is no news. */
export function recordDispute(command: RecordDispute, state: PaymentState): PaymentEvent[] {
  const payment = existingPayment(state)
  if (isAppliedBefore(command, payment)) return []
  if (isForeignIntent(command, payment))
    return [ignoredReport(command, payment, { reported_status: 'disputed', reason: 'foreign_intent' })]
  const { dispute_id, dispute_status, disputed_cents } = command
  const event: PaymentEvent = {
    type: 'PaymentDisputeRecorded',
    data: { ...reportFacts(command, payment), dispute_id, dispute_status, disputed_cents },
  }
  return dispute_id !== null && isDuplicate(event, payment) ? [] : [event]
}
