// Money that goes back at the fake Stripe: refunds, released authorizations and disputes.
import type { StripeEvent } from './events.ts'
import {
  disputeBody,
  type NewRefund,
  refundBody,
  type StripeCharge,
  type StripeRefund,
  type StripeRefundStatus,
} from './paymentBodies.ts'
import { existing, type StripeState } from './state.ts'

/** Makes a refund of a charge, or one that releases what is not captured. */
export function addRefund(
  state: StripeState,
  charge: StripeCharge,
  { key = null, ...refund }: NewRefund & { readonly key?: string | null },
): StripeRefund {
  const previous = refundedFields(charge)
  const made = refundBody(charge, refund, state.seconds())
  state.refunds.set(made.id, made)
  count(state, charge)
  state.recordEvent('refund.created', made, { key })
  state.recordEvent('charge.refunded', charge, { previous, key })
  return made
}

const refundedFields = ({ amount_refunded, refunded }: StripeCharge) => ({ amount_refunded, refunded })

/** A refund that failed no longer counts. */
function count(state: StripeState, charge: StripeCharge): void {
  const counted = refundsOf(state, charge.id).filter(({ status }) => status !== 'failed' && status !== 'canceled')
  charge.amount_refunded = counted.reduce((sum, { amount }) => sum + amount, 0)
  charge.refunded = charge.amount_refunded === charge.amount
}

/** Newest first. */
export function refundsOf(state: StripeState, chargeId: string): StripeRefund[] {
  return [...state.refunds.values()].filter(({ charge }) => charge === chargeId).reverse()
}

/** @param amount default: the amount that is not refunded yet */
export function refund(state: StripeState, intentId: string, amount?: number): StripeEvent[] {
  const refunded = chargeOf(state, intentId)
  const before = state.events.length
  addRefund(state, refunded, { amount: amount ?? refunded.amount - refunded.amount_refunded })
  return state.events.slice(before)
}

/** A refund ends, or fails after it had succeeded. */
export function changeRefund(
  state: StripeState,
  refundId: string,
  status: Exclude<StripeRefundStatus, 'pending'>,
): StripeEvent[] {
  const changed = existing(state.refunds, refundId)
  const before = state.events.length
  const previous = { status: changed.status }
  changed.status = status
  if (status === 'failed') changed.failure_reason = 'expired_or_canceled_card'
  if (status === 'canceled') changed.failure_reason = 'merchant_request'
  count(state, existing(state.charges, changed.charge))
  state.recordEvent('refund.updated', changed, { previous })
  state.recordEvent('charge.refund.updated', changed, { previous })
  if (status === 'failed') state.recordEvent('refund.failed', changed, { previous })
  return state.events.slice(before)
}

export function dispute(state: StripeState, intentId: string, amount?: number): StripeEvent[] {
  const disputed = chargeOf(state, intentId)
  const before = state.events.length
  const opened = disputeBody(disputed, amount ?? disputed.amount_captured, state.seconds())
  disputed.disputed = true
  state.disputes.set(opened.id, opened)
  state.recordEvent('charge.dispute.created', opened)
  state.recordEvent('charge.dispute.funds_withdrawn', opened)
  return state.events.slice(before)
}

export function closeDispute(state: StripeState, disputeId: string, status: 'won' | 'lost'): StripeEvent[] {
  const closed = existing(state.disputes, disputeId)
  const before = state.events.length
  const previous = { status: closed.status }
  closed.status = status
  state.recordEvent('charge.dispute.closed', closed, { previous })
  if (status === 'won') state.recordEvent('charge.dispute.funds_reinstated', closed)
  return state.events.slice(before)
}

function chargeOf(state: StripeState, intentId: string): StripeCharge {
  return existing(state.charges, existing(state.intents, intentId).latest_charge ?? '')
}

export type StripeBalance = {
  /** Captured. */
  readonly received: number
  /** Succeeded refunds of it, without what was released instead of captured. */
  readonly refunded: number
  /** Taken by disputes that are open or lost. */
  readonly disputed: number
}

/** The money of an intent. */
export function balanceOf(state: StripeState, intentId: string): StripeBalance {
  const charges = [...state.charges.values()].filter(({ payment_intent }) => payment_intent === intentId)
  const captured = charges.filter((charge) => charge.captured)
  const sum = (amounts: readonly number[]) => amounts.reduce((total, amount) => total + amount, 0)
  const released = sum(captured.map(({ amount, amount_captured }) => amount - amount_captured))
  const refunds = captured.flatMap(({ id }) => refundsOf(state, id)).filter(({ status }) => status === 'succeeded')
  const disputes = [...state.disputes.values()].filter(({ payment_intent }) => payment_intent === intentId)
  return {
    received: sum(captured.map(({ amount_captured }) => amount_captured)),
    refunded: sum(refunds.map(({ amount }) => amount)) - released,
    disputed: sum(disputes.filter(({ status }) => status !== 'won').map(({ amount }) => amount)),
  }
}
