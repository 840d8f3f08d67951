// Stripe's refund object, and which refunds gave money back. https://docs.stripe.com/api/refunds/object
import type { RefundReason, RefundStatus } from '@paylog/domain/payments/events'
import type { ReportSource } from '@paylog/domain/payments/evidence'
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Amount, Code, maybe, paymentIdFrom } from '../fields.ts'
import { valueAt } from '../lenient.ts'
import type { ReportedRefund } from '../provider.ts'
import { CurrencyCode, fromStripeAmount, idIn, Reference } from './fields.ts'

/** The fields that we read, in responses and in notifications. */
export const Refund = Type.Object({
  id: Code,
  amount: Amount,
  currency: CurrencyCode,
  status: maybe(Code),
  reason: maybe(Code),
  failure_reason: maybe(Code),
  charge: maybe(Reference),
  payment_intent: maybe(Reference),
  metadata: maybe(Type.Object({})),
})
export type Refund = Static<typeof Refund>

/** A charge, with its newest refunds where they are expanded. */
export const RefundedCharge = Type.Object({
  id: Code,
  amount: Amount,
  amount_captured: maybe(Amount),
  captured: maybe(Type.Boolean()),
  payment_intent: maybe(Reference),
  metadata: maybe(Type.Object({})),
  refunds: maybe(Type.Object({ data: Type.Array(Refund), has_more: Type.Boolean() })),
})
export type RefundedCharge = Static<typeof RefundedCharge>

const refundSchema = Compile(Refund)

export function refundIn(value: unknown): Refund | null {
  return refundSchema.Check(value) ? value : null
}

/** Our id, which only refunds of ours name. */
export function refundIdIn({ metadata }: Pick<Refund, 'metadata'>): string | null {
  return paymentIdFrom(valueAt(metadata, 'refund_id'))
}

/** https://docs.stripe.com/refunds#failed-refunds. A canceled refund never reached the payer. */
const statuses: ReadonlyMap<unknown, RefundStatus> = new Map([
  ['pending', 'pending'],
  ['requires_action', 'pending'],
  ['succeeded', 'succeeded'],
  ['failed', 'failed'],
  ['canceled', 'failed'],
])

/** @returns `undefined` for an unknown status */
export function refundStatusOf({ status }: Refund): RefundStatus | undefined {
  return statuses.get(status)
}

const reasons: ReadonlyMap<unknown, RefundReason> = new Map([
  ['duplicate', 'duplicate'],
  ['fraudulent', 'fraudulent'],
  ['requested_by_customer', 'requested_by_customer'],
])

/**
 * What Stripe says of a refund. One with a status that is new to us counts as pending.
 * @param source the time and the event of the report; the ids are used where the refund does not name them
 * @returns `null` when the amount cannot be converted
 */
export function reportedRefund(refund: Refund, source: ReportSource): ReportedRefund | null {
  const refund_cents = fromStripeAmount(refund.amount, refund.currency)
  if (refund_cents === null) return null
  const status = refundStatusOf(refund) ?? 'pending'
  const reason = reasons.get(refund.reason) ?? 'other'
  return {
    ...source,
    provider_intent_id: idIn(refund.payment_intent) ?? source.provider_intent_id,
    provider_payment_id: idIn(refund.charge) ?? source.provider_payment_id,
    refund_id: refundIdIn(refund),
    provider_refund_id: refund.id,
    refund_cents,
    status,
    reason,
    ...(reason === 'other' && refund.reason ? { note: refund.reason } : {}),
    ...(status === 'failed' ? { failure_code: refund.failure_reason ?? refund.status ?? 'failed' } : {}),
  }
}

/** How much of the charge was authorized, and released instead of captured. */
export function releasedOf({ amount, amount_captured, captured }: RefundedCharge): number {
  if (captured === false) return amount
  return amount - (amount_captured ?? amount)
}

/**
 * The refunds that gave money back. Stripe also makes a refund when it releases what was authorized and not captured: all of
 * it, or the rest of a partial capture. https://docs.stripe.com/payments/place-a-hold-on-a-payment-method
 * @param refunds all refunds of the charge, newest first as Stripe lists them
 */
export function refundsOfMoney(charge: RefundedCharge, refunds: readonly Refund[]): readonly Refund[] {
  const released = releasedOf(charge)
  if (charge.captured === false || charge.amount_captured === 0) return []
  const real = refunds.filter(({ reason }) => reason !== 'expired_uncaptured_charge')
  if (released === 0 || real.length < refunds.length) return real
  // The rest is released with the capture, so before any other refund.
  const release = real.findLast((refund) => refund.amount === released && refundIdIn(refund) === null)
  return real.filter((refund) => refund !== release)
}
