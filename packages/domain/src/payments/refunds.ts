// Refunds of a payment: those that we request, and those that the provider reports.
import { type Static, Type } from 'typebox'
import { currencyExponent } from '../currency.ts'
import { derivedId } from '../derivedId.ts'
import { DomainError } from '../errors.ts'
import { Nullable, pick } from '../fields.ts'
import { limitInMinorUnits } from '../rights.ts'
import { newAttention } from './attention.ts'
import { type RefundState, receivedOf, restOfCharges, sumOf } from './charges.ts'
import { type PaymentEvent, RefundReason, RefundStatus } from './events.ts'
import { existingPayment, factsOf, type Payment, type PaymentState } from './payment.ts'
import { hasEnded } from './providerCall.ts'
import {
  correctsAmount,
  isInOtherCurrency,
  ReportedInOtherCurrency,
  type ReportedMoney,
  recordedAmount,
} from './reportedMoney.ts'
import { ignoredReport, isAppliedBefore, isForeignIntent, type ReceivedReport, reportFacts } from './statusReports.ts'

/** A refund in API responses. */
export const RefundResource = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    payment_id: Type.String({ format: 'uuid' }),
    amount_cents: Nullable(Type.Integer()),
    currency: Type.String(),
    ...ReportedInOtherCurrency,
    status: RefundStatus,
    reason: RefundReason,
    note: Nullable(Type.String()),
    provider_refund_id: Nullable(Type.String()),
    failure_code: Nullable(Type.String()),
    created_at: Type.String({ format: 'date-time' }),
    updated_at: Type.String({ format: 'date-time' }),
  },
  { title: 'Refund' },
)
export type RefundResource = Static<typeof RefundResource>

export function refundResource({ payment_id, currency }: Payment, refund: RefundState): RefundResource {
  return pick(RefundResource, { ...refund, id: refund.refund_id, payment_id, currency })
}

export function refundOf({ refunds }: Payment, refundId: string): RefundState | undefined {
  return refunds.find(({ refund_id }) => refund_id === refundId)
}

export type RequestRefund = {
  readonly occurred_at: string
  readonly refund_id: string
  /** Undefined for all that is left. */
  readonly amount_cents?: number | undefined
  readonly reason: RefundReason
  readonly note: string | null
  readonly request_fingerprint: string | null
  /** The largest refund that the caller may make, see `GrantedRights`; null for any. */
  readonly refund_limit_cents: number | null
}

/**
 * Begins a refund, and reserves its amount. Begins it again when its call did not reach the provider. A refund is of one
 * charge; of several, the one with the most left.
 * @returns none when it has started
 * @throws DomainError `payment_not_refundable`, `forbidden` for one over the limit, `refund_exceeds_payment`
 */
export function requestRefund(command: RequestRefund, state: PaymentState): PaymentEvent[] {
  const payment = existingPayment(state)
  if (hasStarted(command, payment)) return []
  requireWithinLimit(command, payment)
  if (receivedOf(payment) === 0)
    throw new DomainError('payment_not_refundable', 'The payment has received no money', { status: payment.status })
  const { charge, refundable_cents, refund_cents } = wantedRefund(command, payment)
  if (!charge || refund_cents > refundable_cents || refundable_cents === 0)
    throw new DomainError('refund_exceeds_payment', 'The refund is larger than what is left of the payment', {
      refundable_cents,
    })
  const { refund_id, reason, note, request_fingerprint, occurred_at } = command
  const { provider_payment_id } = charge
  const about = { refund_id, refund_cents, reason, note, provider_payment_id, request_fingerprint }
  return [{ type: 'RefundRequested', data: { ...factsOf(payment, occurred_at), ...about } }]
}

type WantedRefund = Pick<RequestRefund, 'refund_id' | 'amount_cents' | 'refund_limit_cents'>

/** One whose call did not reach the provider may start again. */
function hasStarted({ refund_id }: WantedRefund, payment: Payment): boolean {
  const earlier = refundOf(payment, refund_id)
  return earlier !== undefined && earlier.call.rejection?.code !== 'provider_unavailable'
}

function wantedRefund({ refund_id, amount_cents }: WantedRefund, payment: Payment) {
  const [charge] = restOfCharges(payment).toSorted((a, b) => b.rest - a.rest)
  const refundable_cents = charge?.rest ?? 0
  const refund_cents = refundOf(payment, refund_id)?.amount_cents ?? amount_cents ?? refundable_cents
  return { charge, refundable_cents, refund_cents }
}

/**
 * `requestRefund` checks it too, whatever happened in between: this one is for rejecting a request before anything is recorded.
 * @throws DomainError `forbidden` with `limit_cents` for a refund, not started yet, that is larger than its caller may make
 */
export function requireWithinLimit(command: WantedRefund, payment: Payment): void {
  const { refund_limit_cents } = command
  if (refund_limit_cents === null || hasStarted(command, payment)) return
  const limit_cents = limitInMinorUnits(refund_limit_cents, currencyExponent(payment.currency))
  if (wantedRefund(command, payment).refund_cents <= limit_cents) return
  throw new DomainError('forbidden', 'The refund is larger than the caller may make', { right: 'refund', limit_cents })
}

/** What a provider reports about one refund. */
export type RecordRefund = ReceivedReport &
  ReportedMoney & {
    /** Our id, where the refund names it. */
    readonly refund_id: string | null
    readonly provider_refund_id: string | null
    readonly status: RefundStatus
    /** `other` for one that the provider made itself. */
    readonly reason?: RefundReason
    readonly note?: string
    readonly failure_code?: string
  }

const progress: Readonly<Record<RefundStatus, number>> = { pending: 0, succeeded: 1, failed: 2 }

/**
 * Records what the provider says of a refund, when it is new. A refund only goes on: it succeeds, and may fail even then.
 * What the provider says wins, also when more is refunded than was received.
 */
export function recordRefund(command: RecordRefund, state: PaymentState): PaymentEvent[] {
  const payment = existingPayment(state)
  if (isAppliedBefore(command, payment)) return []
  if (isForeignIntent(command, payment))
    return [ignoredReport(command, payment, { reported_status: 'refunded', reason: 'foreign_intent' })]
  const known = reportedRefund(command, payment)
  const isKnownCall = known && hasEnded(known.call) && known.provider_refund_id !== null
  const isNew = !known || progress[command.status] > progress[known.status] || correctsAmount(command, payment, known)
  if (isKnownCall && !isNew) return []
  const { amount_cents: refund_cents, ...reported } = recordedAmount(command, payment, known)
  // That our call was rejected says less than the provider's books.
  const isLate = known && known.call.rejection === null && progress[known.status] > progress[command.status]
  const status = isLate ? known.status : command.status
  const provider_refund_id = command.provider_refund_id ?? known?.provider_refund_id ?? null
  const refund_id = known?.refund_id ?? derivedId(payment.provider_id, 'refund', refundSubject(command))
  return [
    {
      type: 'RefundRecorded',
      data: {
        ...reportFacts(command, payment),
        provider_payment_id: command.provider_payment_id ?? known?.provider_payment_id ?? null,
        refund_id,
        provider_refund_id,
        refund_cents,
        ...reported,
        status,
        was_succeeded: known?.status === 'succeeded',
        reason: known?.reason ?? command.reason ?? 'other',
        note: known?.note ?? command.note ?? null,
        failure_code: command.failure_code ?? null,
        payment_status: payment.status,
        attention: isInOtherCurrency(command, payment)
          ? newAttention(payment, 'reported_in_other_currency', refund_id)
          : exceeding(payment, known, { refund_cents, status }),
      },
    },
  ]
}

const refundSubject = ({ provider_refund_id, provider_event_id, provider_time }: RecordRefund) =>
  provider_refund_id ?? provider_event_id ?? provider_time

function reportedRefund(
  { refund_id, provider_refund_id }: RecordRefund,
  { refunds }: Payment,
): RefundState | undefined {
  const byProviderId = refunds.find(
    (refund) => provider_refund_id !== null && refund.provider_refund_id === provider_refund_id,
  )
  // A refund of ours has one object at the provider.
  const isFree = ({ provider_refund_id: linked }: RefundState) => linked === null || provider_refund_id === null
  return byProviderId ?? refunds.find((refund) => refund.refund_id === refund_id && isFree(refund))
}

function exceeding(
  payment: Payment,
  known: RefundState | undefined,
  { refund_cents, status }: { readonly refund_cents: number | null; readonly status: RefundStatus },
) {
  const received = receivedOf(payment)
  // The report of the success may still be on its way.
  if (status === 'failed' || received === 0) return null
  // A call whose outcome is unknown may be rejected.
  const others = payment.refunds.filter(
    (refund) => refund !== known && refund.status !== 'failed' && hasEnded(refund.call),
  )
  const isExceeding = sumOf(others) + (refund_cents ?? 0) > received
  return isExceeding ? newAttention(payment, 'refund_exceeds_payment', '') : null
}

/**
 * A report of how much was refunded of a charge altogether, without its refunds.
 * @returns that the provider has to be asked, when the recorded refunds are not as much
 */
export function recordRefundedTotal(command: ReceivedReport & ReportedMoney, state: PaymentState): PaymentEvent[] {
  const payment = existingPayment(state)
  if (isAppliedBefore(command, payment)) return []
  const reported = { reported_status: 'refunded' }
  if (isForeignIntent(command, payment))
    return [ignoredReport(command, payment, { ...reported, reason: 'foreign_intent' })]
  const isOfCharge = ({ provider_payment_id: charge }: RefundState) =>
    charge === null || command.provider_payment_id === null || charge === command.provider_payment_id
  const recorded = payment.refunds.filter((refund) => refund.status === 'succeeded' && isOfCharge(refund))
  if (sumOf(recorded) === recordedAmount(command, payment).amount_cents) return []
  return [ignoredReport(command, payment, { ...reported, reason: 'tie' })]
}
