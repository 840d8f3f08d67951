// Commands that cancel and capture a payment at its provider, and how their calls and those of refunds fail.
import { DomainError } from '../errors.ts'
import type { IntentRejection, PaymentEvent } from './events.ts'
import { existingPayment, factsOf, type Payment, type PaymentState } from './payment.ts'
import { refundOf } from './refunds.ts'

export type RequestCancel = { readonly occurred_at: string; readonly reason: string | null }

/**
 * Begins to cancel a payment that is pending, failed and could still be paid, or authorized and not captured.
 * @returns none when that has begun, or is done
 * @throws DomainError `payment_not_cancelable`
 */
export function requestCancel({ occurred_at, reason }: RequestCancel, state: PaymentState): PaymentEvent[] {
  const payment = existingPayment(state)
  if (payment.status === 'canceled' || payment.requested?.call === 'cancel') return []
  if (!isCancelable(payment)) throw notCancelable(payment)
  return [cancelRequested(payment, { occurred_at, reason, is_expiry: false })]
}

/**
 * Begins to cancel a payment that nobody paid in time.
 * @returns none unless it has expired; never while it is processed
 */
export function requestExpiry({ occurred_at }: { readonly occurred_at: string }, state: PaymentState): PaymentEvent[] {
  const payment = existingPayment(state)
  const { requested, expires_at, status } = payment
  const isOver = expires_at && Date.parse(expires_at) <= Date.parse(occurred_at)
  if (!isOver || requested !== null || status === 'processing' || !isCancelable(payment)) return []
  return [cancelRequested(payment, { occurred_at, reason: 'expired', is_expiry: true })]
}

const cancelRequested = (
  payment: Payment,
  { occurred_at, ...about }: RequestCancel & { readonly is_expiry: boolean },
): PaymentEvent => ({ type: 'PaymentCancelRequested', data: { ...factsOf(payment, occurred_at), ...about } })

/** An approved payment that nobody has captured can be canceled: it is simply not captured. */
function isCancelable(payment: Payment): boolean {
  const { status, requested, intent_outcome, capturable_cents, provider_payment_id, approvals_reported } = payment
  if (requested?.call === 'capture') return false
  if (status === 'pending') return true
  if (status === 'failed') return intent_outcome.kind === 'created'
  const isApproved = approvals_reported > 0 && provider_payment_id === null
  return status === 'processing' && (capturable_cents > 0 || isApproved)
}

/** The payment can no longer be canceled, or the payer was faster. */
export function notCancelable({ payment_id, status }: Payment): DomainError {
  return new DomainError('payment_not_cancelable', `A payment that is ${status} cannot be canceled`, {
    payment_id,
    status,
  })
}

/**
 * Begins to capture what is authorized.
 * @param command `amount_cents` undefined for all of it; the rest of a partial capture is released
 * @throws DomainError `payment_not_capturable`, `capture_exceeds_authorization`
 */
export function requestCapture(
  { occurred_at, amount_cents }: { readonly occurred_at: string; readonly amount_cents?: number | undefined },
  state: PaymentState,
): PaymentEvent[] {
  const payment = existingPayment(state)
  const { capturable_cents, status, requested } = payment
  if (status !== 'processing' || capturable_cents === 0 || requested !== null) throw notCapturable(payment)
  const capture_cents = amount_cents ?? capturable_cents
  if (capture_cents > capturable_cents)
    throw new DomainError('capture_exceeds_authorization', 'The amount is larger than what is authorized', {
      capturable_cents,
    })
  return [{ type: 'PaymentCaptureRequested', data: { ...factsOf(payment, occurred_at), capture_cents } }]
}

export function notCapturable({ payment_id, status }: Payment): DomainError {
  return new DomainError('payment_not_capturable', 'Nothing is authorized that could be captured', {
    payment_id,
    status,
  })
}

export type RecordCallFailed = {
  readonly occurred_at: string
  readonly call: 'cancel' | 'capture' | 'refund'
  readonly refund_id: string | null
  readonly outcome: 'unknown' | 'throttled' | 'rejected'
  readonly refusal: IntentRejection | null
  readonly code: string
  readonly message: string
}

/** Records how a call failed; nothing when it has ended, or failed in this way before. */
export function recordCallFailed(command: RecordCallFailed, state: PaymentState): PaymentEvent[] {
  const payment = existingPayment(state)
  const { occurred_at, call, refund_id, outcome, refusal, code: failure_code, message: failure_message } = command
  const now = call === 'refund' ? refundCall(payment, refund_id) : intentCall(payment, call)
  if (now === 'ended' || now === outcome) return []
  // Another call of the same operation may have had an effect.
  if (now === 'unknown' && (outcome === 'throttled' || refusal === 'provider_unavailable')) return []
  const about = { call, refund_id, outcome, refusal, failure_code, failure_message }
  return [{ type: 'ProviderCallFailed', data: { ...factsOf(payment, occurred_at), ...about } }]
}

const refundCall = (payment: Payment, refundId: string | null) =>
  (refundId !== null && refundOf(payment, refundId)?.call) || 'ended'

const intentCall = ({ requested }: Payment, call: 'cancel' | 'capture') =>
  requested?.call === call ? requested.outcome : 'ended'
