// The status machine: what a provider's statement about a payment's status means for it.
import type { PaymentEvent } from './events.ts'
import { isDuplicate } from './notices.ts'
import { existingPayment, type Payment, type PaymentState } from './payment.ts'
import {
  type ReceivedReport,
  type IgnoredReport,
  ignoredReport,
  isForeignIntent,
  isAppliedBefore,
  type ReportSource,
  reportFacts,
} from './statement.ts'
import { isAbsorbing, type PaymentStatus } from './status.ts'

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
