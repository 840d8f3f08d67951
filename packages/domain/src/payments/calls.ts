// Commands that cancel and capture a payment at its provider, and how its calls fail.
import { DomainError } from '../errors.ts'
import type { PaymentEvent } from './events.ts'
import { reopened } from './initiate.ts'
import { existingPayment, factsOf, isAbsorbing, openRequestOf, type Payment, type PaymentState } from './payment.ts'
import { type CallFailed, hasEnded, isCreateRejected, type ProviderCall } from './providerCall.ts'
import { refundOf } from './refunds.ts'

export type RequestCancel = { readonly occurred_at: string; readonly reason: string | null }

/**
 * Begins to cancel a payment that is pending, failed and could still be paid, or authorized and not captured.
 * @returns none when that has started, or is done
 * @throws DomainError `payment_not_cancelable`
 */
export function requestCancel({ occurred_at, reason }: RequestCancel, state: PaymentState): PaymentEvent[] {
  const payment = existingPayment(state)
  if (payment.status === 'canceled' || openRequestOf(payment)?.call === 'cancel') return []
  if (!isCancelable(payment)) throw notCancelable(payment)
  return [cancelRequested(payment, { occurred_at, reason, is_expiry: false })]
}

/**
 * Begins to cancel a payment that nobody paid in time.
 * @returns none unless it has expired; never while it is processed
 */
export function requestExpiry({ occurred_at }: { readonly occurred_at: string }, state: PaymentState): PaymentEvent[] {
  const payment = existingPayment(state)
  const { expires_at, status } = payment
  const isOver = expires_at && Date.parse(expires_at) <= Date.parse(occurred_at)
  if (!isOver || openRequestOf(payment) || status === 'processing' || !isCancelable(payment)) return []
  return [cancelRequested(payment, { occurred_at, reason: 'expired', is_expiry: true })]
}

const cancelRequested = (
  payment: Payment,
  { occurred_at, ...about }: RequestCancel & { readonly is_expiry: boolean },
): PaymentEvent => ({ type: 'PaymentCancelRequested', data: { ...factsOf(payment, occurred_at), ...about } })

/** A payment that is processed can be canceled only while its money waits for our capture: authorized, or approved. */
function isCancelable(payment: Payment): boolean {
  const { status, create, capturable_cents, awaits_capture } = payment
  if (openRequestOf(payment)?.call === 'capture') return false
  if (status === 'pending') return true
  if (status === 'failed') return create.outcome === 'done'
  return status === 'processing' && (capturable_cents > 0 || awaits_capture)
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
  const { capturable_cents, status } = payment
  if (status !== 'processing' || capturable_cents === 0 || openRequestOf(payment)) throw notCapturable(payment)
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

/** How a call failed, as it is recorded. */
export type CallFailure = Pick<CallFailed, 'outcome' | 'error_code' | 'failure_code' | 'failure_message'>

/** The call that failed: the attempt of a create call, the id of a refund. */
export type NamedCall =
  | { readonly call: 'create'; readonly attempt: number }
  | { readonly call: 'cancel' | 'capture' }
  | { readonly call: 'refund'; readonly refund_id: string }

/**
 * Records how a call failed; nothing when that says no more than what is known of it. An unknown outcome of a create call
 * reopens a payment that failed because another call of the same attempt had no effect: this one may have had one.
 */
export function recordCallFailed(
  named: NamedCall,
  failure: CallFailure & { readonly occurred_at: string },
  state: PaymentState,
): PaymentEvent[] {
  const payment = existingPayment(state)
  if (!saysMore(named, failure, payment)) return []
  const { occurred_at, ...about } = failure
  const data = { ...factsOf(payment, occurred_at), attempt: null, refund_id: null, ...named, ...about }
  const isOpenAgain = named.call === 'create' && failure.outcome === 'unknown'
  return [
    ...(isOpenAgain ? reopened({ occurred_at, attempt: named.attempt }, payment) : []),
    { type: 'ProviderCallFailed', data },
  ]
}

function saysMore(named: NamedCall, { outcome, error_code }: CallFailure, payment: Payment): boolean {
  const known = knownCall(payment, named)
  // What the provider reported of the payment says more than that its create call was rejected.
  if (!known || (isCreateRejected({ ...named, outcome }) && isAbsorbing(payment.status))) return false
  // It had no effect. Another call of the same operation may have had one.
  if (outcome === 'throttled' || error_code === 'provider_unavailable') return known.outcome === 'open'
  const mayHaveBeenMade = named.call === 'create' && known.rejection?.code === 'provider_unavailable'
  return mayHaveBeenMade || !(hasEnded(known) || known.outcome === outcome)
}

function knownCall(payment: Payment, named: NamedCall): ProviderCall | undefined {
  if (named.call === 'create') return payment.create
  if (named.call === 'refund') return refundOf(payment, named.refund_id)?.call
  return payment.requested?.call === named.call ? payment.requested : undefined
}
