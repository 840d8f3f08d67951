// Stripe's payment intent object and the evidence in it. https://docs.stripe.com/api/payment_intents/object
import type { Evidence } from '@paylog/domain/payments/evidence'
import type { PaymentStatus } from '@paylog/domain/payments/payment'
import { type Static, Type } from 'typebox'
import { Amount, Code, maybe } from '../fields.ts'
import { CurrencyCode, fromStripeAmount, idIn, Reference } from './fields.ts'

/** The fields that we read, in responses and in notifications. */
export const PaymentIntent = Type.Object({
  id: Code,
  amount: Amount,
  amount_received: maybe(Amount),
  /** Authorized, and not captured. */
  amount_capturable: maybe(Amount),
  capture_method: maybe(Code),
  currency: CurrencyCode,
  status: maybe(Code),
  client_secret: maybe(Type.String({ minLength: 1, maxLength: 500 })),
  metadata: maybe(Type.Object({ payment_id: Type.Optional(Type.String()) })),
  customer: maybe(Reference),
  receipt_email: maybe(Type.String()),
  latest_charge: maybe(Reference),
  last_payment_error: maybe(
    Type.Object({ type: maybe(Code), code: maybe(Code), decline_code: maybe(Code), charge: maybe(Reference) }),
  ),
  cancellation_reason: maybe(Code),
})
export type PaymentIntent = Static<typeof PaymentIntent>

/** @returns `undefined` for an unknown status */
export function statusOf({ status, last_payment_error }: PaymentIntent): PaymentStatus | undefined {
  // The last attempt failed, and the intent waits for another.
  if (status === 'requires_payment_method' && last_payment_error) return 'failed'
  return statuses.get(status)
}

const statuses: ReadonlyMap<unknown, PaymentStatus> = new Map([
  ['requires_payment_method', 'pending'],
  ['requires_confirmation', 'pending'],
  ['requires_action', 'pending'],
  ['processing', 'processing'],
  ['requires_capture', 'processing'],
  ['succeeded', 'succeeded'],
  ['canceled', 'canceled'],
])

/**
 * Evidence that the intent's payment has a status.
 * @param source the time and the event of the report
 * @returns `null` when the amount cannot be converted
 */
export function evidenceOf(
  intent: PaymentIntent,
  status: PaymentStatus,
  source: Pick<Evidence, 'provider_time' | 'provider_event_id'>,
): Evidence | null {
  const { id, amount, amount_received, currency, latest_charge, last_payment_error, cancellation_reason } = intent
  const capturable_cents = fromStripeAmount(intent.amount_capturable ?? 0, currency)
  const amount_cents = fromStripeAmount(status === 'succeeded' ? (amount_received ?? amount) : amount, currency)
  if (amount_cents === null) return null
  return {
    ...source,
    status,
    provider_intent_id: id,
    // An attempt can fail before it has a charge, and `latest_charge` then belongs to an earlier attempt.
    provider_payment_id: idIn(status === 'failed' ? last_payment_error?.charge : latest_charge),
    amount_cents,
    currency: currency.toUpperCase(),
    ...(status === 'processing' && capturable_cents !== null ? { capturable_cents } : {}),
    ...(status === 'failed' ? failureOf(last_payment_error) : {}),
    ...(status === 'canceled' && cancellation_reason ? { reason: cancellation_reason } : {}),
  }
}

/** Prefers the bank's own code, if the bank declined. */
function failureOf(error: PaymentIntent['last_payment_error']) {
  return {
    failure_code: error?.decline_code ?? error?.code ?? error?.type ?? 'failed',
    failure_message: 'The payment was declined',
  }
}
