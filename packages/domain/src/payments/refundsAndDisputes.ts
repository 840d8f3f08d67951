// Money that goes back to the payer, or may have to: refunds and disputes are facts beside the status, which stays.
import type { PaymentEvent } from './events.ts'
import { isOnRecord } from './notices.ts'
import { existing, type PaymentState } from './payment.ts'
import { type HeardStatement, ignored, isForeignIntent, isSeen, statedFacts } from './statement.ts'

export type RecordRefund = HeardStatement & {
  readonly refund_id: string | null
  readonly refunded_cents: number | null
}

/** Money went back to the payer. A refund that the provider tells of twice is one refund. */
export function recordRefund(command: RecordRefund, state: PaymentState): PaymentEvent[] {
  const payment = existing(state)
  if (isSeen(command, payment)) return []
  if (isForeignIntent(command, payment))
    return [ignored(command, payment, { reported_status: 'refunded', reason: 'foreign_intent' })]
  const { refund_id, refunded_cents } = command
  const event: PaymentEvent = {
    type: 'PaymentRefundRecorded',
    data: { ...statedFacts(command, payment), refund_id, refunded_cents },
  }
  return refund_id !== null && isOnRecord(event, payment) ? [] : [event]
}

export type RecordDispute = HeardStatement & {
  readonly dispute_id: string | null
  readonly dispute_status: string
  readonly disputed_cents: number | null
}

/** The payer contests the payment, or a contest moves on. The same status of the same dispute is no news. */
export function recordDispute(command: RecordDispute, state: PaymentState): PaymentEvent[] {
  const payment = existing(state)
  if (isSeen(command, payment)) return []
  if (isForeignIntent(command, payment))
    return [ignored(command, payment, { reported_status: 'disputed', reason: 'foreign_intent' })]
  const { dispute_id, dispute_status, disputed_cents } = command
  const event: PaymentEvent = {
    type: 'PaymentDisputeRecorded',
    data: { ...statedFacts(command, payment), dispute_id, dispute_status, disputed_cents },
  }
  return dispute_id !== null && isOnRecord(event, payment) ? [] : [event]
}
