// What all statements of a provider about one payment have in common, whatever they say.
import { isInChain } from '../chain.ts'
import type { PaymentEvent } from './events.ts'
import { factsOf, type Payment } from './payment.ts'

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
export function isAppliedBefore({ provider_event_id }: ReportSource, payment: Payment): boolean {
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
export function reportFacts(report: ReceivedReport, payment: Payment) {
  const { provider_time, provider_event_id, provider_payment_id } = report
  return { ...factsOf(payment, report.occurred_at), provider_time, provider_event_id, provider_payment_id }
}

/** A statement that changes nothing, on record. */
export type IgnoredReport = Extract<PaymentEvent, { type: 'ProviderEventIgnored' }>

/** Puts a statement on record that changes nothing. */
export function ignoredReport(
  report: ReceivedReport,
  payment: Payment,
  why: Pick<IgnoredReport['data'], 'reported_status' | 'reason'>,
): IgnoredReport {
  const { reported_status, reason } = why
  return { type: 'ProviderEventIgnored', data: { ...reportFacts(report, payment), reported_status, reason } }
}
