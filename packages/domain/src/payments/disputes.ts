// Disputes of a payment, as the provider reports them.
import { type Static, Type } from 'typebox'
import { derivedId } from '../derivedId.ts'
import { Nullable } from '../fields.ts'
import { newAttention } from './attention.ts'
import { DisputeStatus, type PaymentEvent } from './events.ts'
import { existingPayment, type PaymentState } from './payment.ts'
import {
  correctsAmount,
  isInOtherCurrency,
  ReportedInOtherCurrency,
  type ReportedMoney,
  recordedAmount,
} from './reportedMoney.ts'
import { ignoredReport, isAppliedBefore, isForeignIntent, type ReceivedReport, reportFacts } from './statusReports.ts'

/** A dispute in API responses. */
export const DisputeResource = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    payment_id: Type.String({ format: 'uuid' }),
    provider_id: Type.String(),
    provider_dispute_id: Nullable(Type.String()),
    amount_cents: Nullable(Type.Integer()),
    currency: Type.String(),
    ...ReportedInOtherCurrency,
    status: DisputeStatus,
    reason: Nullable(Type.String()),
    evidence_due_by: Nullable(Type.String({ format: 'date-time' })),
    created_at: Type.String({ format: 'date-time' }),
    updated_at: Type.String({ format: 'date-time' }),
  },
  { title: 'Dispute' },
)
export type DisputeResource = Static<typeof DisputeResource>

/**
 * Whether the provider has taken the money of a dispute, by what it said last. An inquiry takes none
 * (https://docs.stripe.com/disputes/inquiries). PayPal takes it by reversing the charge, which is recorded as a refund.
 */
export const hasTakenMoney = ({
  provider_id,
  status,
  provider_status,
}: {
  readonly provider_id: string
  readonly status: DisputeStatus
  readonly provider_status: string
}): boolean =>
  provider_id !== 'paypal' && (status === 'lost' || (status === 'open' && !provider_status.startsWith('warning_')))

export type RecordDispute = ReceivedReport &
  ReportedMoney & {
    readonly provider_dispute_id: string | null
    readonly status: DisputeStatus
    /** The provider's word. */
    readonly provider_status: string
    readonly reason: string | null
    readonly evidence_due_by: string | null
  }

/**
 * Records what is new of a dispute. The payment's status stays. A closed dispute is opened again only by another provider
 * status than before, because reports arrive out of order.
 */
export function recordDispute(command: RecordDispute, state: PaymentState): PaymentEvent[] {
  const payment = existingPayment(state)
  if (isAppliedBefore(command, payment)) return []
  if (isForeignIntent(command, payment))
    return [ignoredReport(command, payment, { reported_status: 'disputed', reason: 'foreign_intent' })]
  const { provider_dispute_id, reason, evidence_due_by } = command
  const dispute_id = derivedId(payment.provider_id, 'dispute', provider_dispute_id ?? payment.payment_id)
  const known = payment.disputes.find((dispute) => dispute.dispute_id === dispute_id)
  const isStale =
    known?.provider_status === command.provider_status || (known?.status !== 'open' && command.status === 'open')
  const stale = isStale ? known : undefined
  if (stale && !correctsAmount(command, payment, stale)) return []
  const { status, provider_status } = stale ?? command
  const is_new_status = known?.status !== status
  const about = { dispute_id, provider_dispute_id, status, is_new_status, provider_status, reason, evidence_due_by }
  const { amount_cents: disputed_cents, ...reported } = recordedAmount(command, payment, known)
  const isOther = isInOtherCurrency(command, payment)
  const attention = isOther ? newAttention(payment, 'reported_in_other_currency', dispute_id) : null
  const facts = { ...reportFacts(command, payment), payment_status: payment.status, attention }
  return [{ type: 'PaymentDisputeRecorded', data: { ...facts, ...about, disputed_cents, ...reported } }]
}
