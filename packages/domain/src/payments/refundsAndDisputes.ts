// Money that goes back to the payer, or may have to: refunds and disputes are facts beside the status, which stays.
import type { PaymentEvent } from './events.ts'
import { isDuplicate } from './notices.ts'
import { existingPayment, type PaymentState } from './payment.ts'
import { type ReceivedReport, ignoredReport, isForeignIntent, isAppliedBefore, reportFacts } from './statement.ts'

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
