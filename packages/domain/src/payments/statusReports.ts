// Applies a provider's reports about the status of a payment.
import { newAttention } from './attention.ts'
import { isDuplicate, isInChain } from './duplicates.ts'
import type { PaymentEvent } from './events.ts'
import {
  existingPayment,
  factsOf,
  isAbsorbing,
  openRequestOf,
  type Payment,
  type PaymentState,
  type PaymentStatus,
} from './payment.ts'
import { isInOtherCurrency, type ReportedMoney } from './reportedMoney.ts'

/** The fields that all reports about a payment have. */
export type ReportSource = {
  /** The provider's time of the report, ISO 8601; orders reports that arrive out of order. */
  readonly provider_time: string
  /** `null` for a snapshot. */
  readonly provider_event_id: string | null
  readonly provider_intent_id: string | null
  /** The charge, capture or transaction that the report is about; for a failure the failed one, if any. */
  readonly provider_payment_id: string | null
}

export type ReceivedReport = ReportSource & {
  readonly occurred_at: string
}

/** Whether the notification was received before. */
export function isAppliedBefore(
  { provider_event_id }: Pick<ReportSource, 'provider_event_id'>,
  payment: Payment,
): boolean {
  return provider_event_id !== null && isInChain(provider_event_id, payment.seen_provider_events)
}

/**
 * Whether the report is about an intent of another payment. While the payment's intent is unknown, a report that only names
 * the payment counts unless the create call was rejected, and so cannot have created the intent.
 */
export function isForeignIntent(
  { provider_intent_id }: Pick<ReportSource, 'provider_intent_id'>,
  payment: Payment,
): boolean {
  if (provider_intent_id === null) return false
  if (payment.provider_intent_id !== null) return payment.provider_intent_id !== provider_intent_id
  return payment.create.outcome === 'rejected'
}

/**
 * Whether the report cannot be assigned yet: the payment's intent is not recorded, and an earlier report was about another
 * one. Both name the payment, so one of them is another system's.
 */
export function isIntentUndecided(
  { provider_intent_id }: Pick<ReportSource, 'provider_intent_id'>,
  { provider_intent_id: recorded, reported_intent_id }: Payment,
): boolean {
  const isOther = provider_intent_id !== null && provider_intent_id !== reported_intent_id
  return recorded === null && reported_intent_id !== null && isOther
}

/** The fields of every event that a report leads to. */
export function reportFacts(report: ReceivedReport, payment: Payment) {
  const { provider_time, provider_event_id, provider_payment_id } = report
  return { ...factsOf(payment, report.occurred_at), provider_time, provider_event_id, provider_payment_id }
}

/** Records a report that changes nothing. */
export type IgnoredReport = Extract<PaymentEvent, { type: 'ProviderEventIgnored' }>

export function ignoredReport(
  report: ReceivedReport,
  payment: Payment,
  { reported_status, reason }: Pick<IgnoredReport['data'], 'reported_status' | 'reason'>,
): IgnoredReport {
  const isForeign = reason === 'foreign_intent'
  const reported_intent_id = isForeign ? report.provider_intent_id : null
  const attention = isForeign ? newAttention(payment, 'foreign_intent', reported_intent_id ?? '') : null
  const about = { reported_status, reason, reported_intent_id, attention }
  return { type: 'ProviderEventIgnored', data: { ...reportFacts(report, payment), ...about } }
}

/** A charge that the provider took back: if its money was received, that is a refund of all of it. */
export type Reversal = {
  readonly provider_payment_id: string
  /** The provider's own word for it. */
  readonly note: string
}

/** A report about the status of a payment. */
export type StatusReport = ReportSource &
  ReportedMoney & {
    readonly status: PaymentStatus
    /** Of a payment that is processed: authorized, and not captured, in the same currency. */
    readonly capturable_cents?: number
    /** Of a payment that is processed: the payer has approved, and we have to take the money. */
    readonly awaits_capture?: boolean
    readonly failure_code?: string
    readonly failure_message?: string
    readonly reason?: string
    readonly reversals?: readonly Reversal[]
  }

export type RecordStatus = ReceivedReport &
  StatusReport & {
    /**
     * `notification` is the default. An `queryable_notification` comes from a provider that we can query for a `snapshot`
     * when the order of reports is undecided.
     */
    readonly source?: 'notification' | 'queryable_notification' | 'snapshot'
  }

/**
 * Applies a report about the status. Returns the resulting event, or `[]` when the report has nothing new or was applied
 * before. A report that must not change the payment is recorded as ignored.
 *
 * A snapshot is the provider's current state, so no notification is newer. The caller must make sure that the payment has not
 * changed since the snapshot was requested. A snapshot that only contradicts the payment is recorded once, and so are
 * conflicts and mismatches from any source.
 */
export function recordStatus(command: RecordStatus, state: PaymentState): PaymentEvent[] {
  const payment = existingPayment(state)
  if (isAppliedBefore(command, payment)) return []
  const event = decide(command, payment)
  if (event === null) return []
  const isRecordedOnce = command.source === 'snapshot' || event.type !== 'ProviderEventIgnored'
  return isRecordedOnce && isDuplicate(event, payment) ? [] : [event]
}

function decide(command: RecordStatus, payment: Payment): PaymentEvent | null {
  const reported_status = command.status
  const ignoredBecause = (reason: IgnoredReport['data']['reason']) =>
    ignoredReport(command, payment, { reported_status, reason })
  if (isForeignIntent(command, payment)) return ignoredBecause('foreign_intent')
  if (isConflict(command, payment)) return conflict(command, payment)
  if (command.status === 'succeeded' && !amountMatches(command, payment)) return mismatch(command, payment)
  // We could not capture it in the payment's currency. A payment that nobody pays in it is canceled, which releases this.
  if (command.capturable_cents && isInOtherCurrency(command, payment)) return mismatch(command, payment)
  if (command.status === payment.status) return sameStatus(command, payment)
  if (isAbsorbing(payment.status)) return ignoredBecause('final')
  if (isAbsorbing(command.status) || command.source === 'snapshot') return statusEvent(command, payment)
  const age = compareAge(command, payment)
  if (age === 'older') return ignoredBecause('stale')
  if (age === 'undecided') return ignoredBecause('tie')
  // A payment never goes back from processing, but the time of this report is kept.
  if (payment.status === 'processing' && command.status === 'pending') return ignoredBecause('regression')
  return statusEvent(command, payment)
}

/**
 * Applies a report with the payment's present status. A final status or a recorded failure is not recorded again. The
 * failure of another charge is recorded, and so is a later notification.
 */
function sameStatus(command: RecordStatus, payment: Payment): PaymentEvent | null {
  if (isAbsorbing(payment.status) || isRecordedFailure(command, payment)) return null
  const isAnotherFailure = command.status === 'failed' && command.provider_payment_id !== null
  const { capturable_cents = payment.capturable_cents, awaits_capture = payment.awaits_capture } = command
  const isCapturableNew = capturable_cents !== payment.capturable_cents || awaits_capture !== payment.awaits_capture
  if (command.source === 'snapshot') return isAnotherFailure || isCapturableNew ? statusEvent(command, payment) : null
  const age = compareAge(command, payment)
  if (age === 'older') return ignoredReport(command, payment, { reported_status: command.status, reason: 'stale' })
  return age === 'newer' || isAnotherFailure ? statusEvent(command, payment) : null
}

/** Whether money was taken for a canceled payment, or by a second charge for a succeeded one. */
function isConflict({ status, provider_payment_id }: StatusReport, payment: Payment): boolean {
  if (status !== 'succeeded') return false
  if (payment.status === 'canceled') return true
  const { provider_payment_id: recorded, failed_charges } = payment
  const isOther = recorded !== null && provider_payment_id !== null && recorded !== provider_payment_id
  // A success without a charge id leaves the id of the failed attempt before it, which took no money.
  return payment.status === 'succeeded' && isOther && !failed_charges.includes(recorded)
}

function isRecordedFailure({ status, provider_payment_id }: StatusReport, { failed_charges }: Payment): boolean {
  return status === 'failed' && provider_payment_id !== null && failed_charges.includes(provider_payment_id)
}

/**
 * Whether the report is newer than the newest one that was applied. This is undecided for equal times, and for a recorded failure that
 * is reported again after the payer started another attempt. If we cannot query the provider, the later arrival wins.
 */
function compareAge(command: RecordStatus, payment: Payment): 'older' | 'undecided' | 'newer' {
  if (payment.report_time === null) return 'newer'
  const ahead = timeDifference(command.provider_time, payment.report_time)
  if (ahead < 0) return 'older'
  const isDecided = ahead > 0 && !isRecordedFailure(command, payment)
  return isDecided || command.source !== 'queryable_notification' ? 'newer' : 'undecided'
}

/** Difference of two times. If one has whole seconds, both are compared in seconds, because its milliseconds are unknown. */
function timeDifference(time: string, other: string): number {
  const times = [Date.parse(time), Date.parse(other)] as const
  const isCoarse = times.some((each) => each % 1000 === 0)
  const [a, b] = isCoarse ? [Math.floor(times[0] / 1000), Math.floor(times[1] / 1000)] : times
  return a - b
}

/**
 * Whether the reported amount and currency match the payment. Missing values count as matching. Of an authorized amount a part
 * may be captured.
 */
export function amountMatches({ amount_cents, currency }: StatusReport, payment: Payment): boolean {
  const isPart = payment.capture_method === 'manual' && amount_cents !== null && amount_cents < payment.total_cents
  const isSame = amount_cents === null || amount_cents === payment.total_cents || isPart
  return isSame && !isInOtherCurrency({ currency }, payment)
}

const reportedMoney = ({ amount_cents, currency }: RecordStatus) => ({
  reported_amount_cents: amount_cents,
  reported_currency: currency?.toUpperCase() ?? null,
})

function mismatch(command: RecordStatus, payment: Payment): PaymentEvent {
  const reported = reportedMoney(command)
  const subject = `${reported.reported_amount_cents} ${reported.reported_currency}`
  const attention = newAttention(payment, 'amount_mismatch', subject)
  return { type: 'PaymentAmountMismatch', data: { ...reportFacts(command, payment), ...reported, attention } }
}

function conflict(command: RecordStatus, payment: Payment): PaymentEvent {
  const code = payment.status === 'canceled' ? 'money_after_cancellation' : 'unrequested_charge'
  return {
    type: 'PaymentConflictDetected',
    data: {
      ...reportFacts(command, payment),
      reported_status: command.status,
      ...reportedMoney(command),
      attention: newAttention(payment, code, command.provider_payment_id ?? ''),
    },
  }
}

function statusEvent(command: RecordStatus, payment: Payment): PaymentEvent {
  const data = reportFacts(command, payment)
  switch (command.status) {
    case 'pending':
      return { type: 'PaymentActionRequired', data }
    case 'processing': {
      const { capturable_cents = 0, awaits_capture = false } = command
      return { type: 'PaymentProcessingStarted', data: { ...data, capturable_cents, awaits_capture } }
    }
    case 'succeeded': {
      const received_cents = command.amount_cents ?? payment.total_cents
      return { type: 'PaymentSucceeded', data: { ...data, received_cents } }
    }
    case 'canceled': {
      const request = openRequestOf(payment)
      const requested = request?.call === 'cancel' ? request.reason : null
      return { type: 'PaymentCanceled', data: { ...data, reason: requested ?? command.reason ?? null } }
    }
    case 'failed':
      return {
        type: 'PaymentAttemptFailed',
        data: {
          ...data,
          failure_code: command.failure_code ?? 'failed',
          failure_message: command.failure_message ?? 'The provider reported that the payment failed',
        },
      }
  }
}
