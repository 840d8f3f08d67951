// What happens to an intent at the fake Stripe: payers pay and fail, and what is authorized is captured or released.
import type { StripeEvent } from './events.ts'
import {
  type ChargeStatus,
  chargeBody,
  type IntentStatus,
  type PaymentError,
  type StripeCharge,
  type StripeIntent,
} from './paymentBodies.ts'
import { addRefund } from './reversals.ts'
import { existing, type StripeState } from './state.ts'

export type PayOutcome = 'succeeded' | 'failed' | 'processing' | 'requires_action' | 'canceled' | 'requires_capture'

/** The bank's response to a failed payment. */
export const declined = {
  type: 'card_error',
  code: 'card_declined',
  decline_code: 'insufficient_funds',
  message: 'Your card has insufficient funds.',
} as const satisfies PaymentError

/**
 * The payer submits the intent's form, with this outcome.
 * @returns Stripe's events, in order
 */
export function pay(state: StripeState, intentId: string, outcome: PayOutcome): StripeEvent[] {
  const intent = existing(state.intents, intentId)
  if (intent.status === 'succeeded' || intent.status === 'canceled')
    throw new Error(`The intent ${intentId} is ${intent.status} for good`)
  const before = state.events.length
  intent.payment_method ??= 'pm_example'
  switch (outcome) {
    case 'succeeded':
      if (intent.capture_method === 'manual' && intent.status !== 'requires_capture') authorize(state, intent)
      else capture(state, intent, { amount: intent.amount })
      break
    case 'failed':
      fail(state, intent)
      break
    case 'processing':
      charge(state, intent, 'pending', 'charge.pending')
      move(state, intent, 'processing', 'payment_intent.processing')
      break
    case 'requires_capture':
      authorize(state, intent)
      break
    case 'requires_action':
      intent.next_action = { type: 'use_stripe_sdk', use_stripe_sdk: {} }
      move(state, intent, 'requires_action', 'payment_intent.requires_action')
      break
    case 'canceled':
      cancel(state, intent, { reason: 'abandoned' })
  }
  return state.events.slice(before)
}

/** Releases what is authorized. */
export function cancel(
  state: StripeState,
  intent: StripeIntent,
  { reason, key }: { readonly reason: string | null; readonly key?: string | null },
): void {
  const authorized = intent.status === 'requires_capture' ? state.charges.get(intent.latest_charge ?? '') : undefined
  if (authorized) addRefund(state, authorized, { amount: authorized.amount })
  intent.amount_capturable = 0
  intent.canceled_at = state.seconds()
  intent.cancellation_reason = reason
  intent.next_action = null
  move(state, intent, 'canceled', 'payment_intent.canceled', key)
}

function authorize(state: StripeState, intent: StripeIntent): void {
  intent.amount_capturable = intent.amount
  intent.last_payment_error = null
  charge(state, intent, 'succeeded', 'charge.succeeded')
  move(state, intent, 'requires_capture', 'payment_intent.amount_capturable_updated')
}

/** Takes the money. What is authorized beyond it is released, which Stripe shows as a refund. */
export function capture(
  state: StripeState,
  intent: StripeIntent,
  { amount, key = null }: { readonly amount: number; readonly key?: string | null },
): void {
  const isAuthorized = intent.status === 'requires_capture'
  intent.amount_capturable = 0
  const paid = charge(state, intent, 'succeeded', isAuthorized ? 'charge.captured' : 'charge.succeeded', amount)
  intent.amount_received = amount
  intent.last_payment_error = null
  intent.next_action = null
  state.ledger.add({
    charge_id: paid.id,
    intent_id: intent.id,
    payment_id: intent.metadata.payment_id ?? null,
    amount_cents: amount,
    currency: paid.currency,
  })
  if (amount < paid.amount) addRefund(state, paid, { amount: paid.amount - amount })
  move(state, intent, 'succeeded', 'payment_intent.succeeded', key)
}

/** A failed attempt removes its method, and the intent waits for another one. */
function fail(state: StripeState, intent: StripeIntent): void {
  const failed = charge(state, intent, 'failed', 'charge.failed')
  intent.last_payment_error = { ...declined, charge: failed.id }
  intent.payment_method = null
  intent.next_action = null
  move(state, intent, 'requires_payment_method', 'payment_intent.payment_failed')
}

/** Each attempt creates one charge, with every outcome. */
function charge(
  state: StripeState,
  intent: StripeIntent,
  status: ChargeStatus,
  type: string,
  amount = intent.amount,
): StripeCharge {
  const open = intent.latest_charge === null ? undefined : state.charges.get(intent.latest_charge)
  const isPending = open !== undefined && open.status !== 'failed' && !open.captured
  const current = isPending ? open : chargeBody(intent, status, state.seconds())
  current.status = status
  current.captured = status === 'succeeded' && intent.amount_capturable === 0
  current.amount_captured = current.captured ? amount : 0
  current.paid = status !== 'failed'
  current.failure_code = status === 'failed' ? declined.code : null
  current.failure_message = status === 'failed' ? declined.message : null
  state.charges.set(current.id, current)
  intent.latest_charge = current.id
  state.recordEvent(type, current)
  return current
}

function move(
  state: StripeState,
  intent: StripeIntent,
  status: IntentStatus,
  type: string,
  key: string | null = null,
): void {
  intent.status = status
  state.recordEvent(type, intent, { key })
}
