// Test support: the requests about one payment, and about its refund.
import type { CreateIntent, IntentRef, RefundCharge } from '../provider.ts'

export const payment_id = '018f2a3b-4c5d-7e6f-8a9b-0c1d2e3f4a5b'
export const refund_id = '018f2a3b-0000-7000-8000-00000000000a'

export const createRequest: CreateIntent = {
  payment_id,
  idempotency_key: payment_id,
  amount_cents: 2599,
  currency: 'EUR',
  description: null,
  capture_method: 'automatic',
  return_url: null,
  cancel_url: null,
  statement_descriptor: null,
  provider_method_id: null,
  provider_customer_id: null,
}

/** The reference that the payment holds to an intent. */
export const refTo = (provider_intent_id: string, more: Partial<IntentRef> = {}): IntentRef => ({
  payment_id,
  provider_intent_id,
  provider_payment_id: null,
  currency: 'EUR',
  capture_method: 'automatic',
  created_at: new Date(Date.now() - 1_000).toISOString(),
  ...more,
})

/** A refund of a part of the payment. */
export const refundOf = (ref: IntentRef, more: Partial<RefundCharge> = {}): RefundCharge => ({
  ...ref,
  idempotency_key: more.refund_id ?? refund_id,
  refund_id,
  amount_cents: 599,
  is_whole: false,
  reason: 'other',
  requested_at: new Date().toISOString(),
  is_repeated: false,
  ...more,
})
