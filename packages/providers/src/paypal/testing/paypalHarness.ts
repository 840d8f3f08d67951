// Test support: the PayPal adapter connected to a fake PayPal.
import { type FakePaypal, type FakePaypalOptions, startFakePaypal } from '@paylog/testing/paypal/fakePaypal'
import type { Test } from 'tap'
import type { CaptureAuthorized, CreateIntent, IntentRef, Provider, RefundCharge } from '../../provider.ts'
import { connectPaypal } from '../../testing/providerHarness.ts'

export const paymentId = '0198f3a0-0000-7000-8000-00000000a001'

export const createRequest: CreateIntent = {
  payment_id: paymentId,
  idempotency_key: paymentId,
  amount_cents: 1999,
  currency: 'EUR',
  description: 'Two tickets',
  capture_method: 'automatic',
  return_url: null,
  cancel_url: null,
  statement_descriptor: null,
  provider_method_id: null,
  provider_customer_id: null,
}

/** @param options `timeoutMs` of every call, and the fake's options */
export async function paypalHarness(
  t: Test,
  { timeoutMs = 5000, ...options }: FakePaypalOptions & { readonly timeoutMs?: number } = {},
): Promise<{ readonly fake: FakePaypal; readonly paypal: Provider }> {
  const fake = await startFakePaypal(t, options)
  return { fake, paypal: paypalFor(t, fake, { timeoutMs }) }
}

/** Another adapter on the same fake, like that of a second process. */
export function paypalFor(
  t: Test,
  fake: FakePaypal,
  overrides: { readonly timeoutMs?: number; readonly clientSecret?: string; readonly apiBase?: string } = {},
): Provider {
  return connectPaypal(t, { ...fake, ...overrides }, overrides)
}

/** @throws when the provider cannot do it */
export async function retrieve(paypal: Provider, ref: IntentRef) {
  if (!paypal.retrieveIntent) throw new Error('PayPal lacks retrieveIntent')
  return await paypal.retrieveIntent(ref)
}

/** @throws when the provider cannot do it */
export async function capture(paypal: Provider, ref: IntentRef, idempotency_key: string) {
  if (!paypal.captureIntent) throw new Error('PayPal lacks captureIntent')
  return await paypal.captureIntent({ ...ref, idempotency_key })
}

export function refTo(
  provider_intent_id: string,
  capture_method: IntentRef['capture_method'] = 'automatic',
): IntentRef {
  return {
    payment_id: paymentId,
    provider_intent_id,
    provider_payment_id: null,
    currency: 'EUR',
    capture_method,
    created_at: '2026-09-01T10:00:00.000Z',
  }
}

/** Creates an order and approves it as the payer. */
export async function approvedOrder({ fake, paypal }: Awaited<ReturnType<typeof paypalHarness>>): Promise<IntentRef> {
  const { provider_intent_id } = await paypal.createIntent(createRequest)
  fake.approve(provider_intent_id)
  return refTo(provider_intent_id)
}

/** @throws when the provider cannot do it */
export async function refund(paypal: Provider, request: RefundCharge) {
  if (!paypal.refund) throw new Error('PayPal lacks refund')
  return await paypal.refund(request)
}

/** @throws when the provider cannot do it */
export async function captureAuthorized(paypal: Provider, request: CaptureAuthorized) {
  if (!paypal.captureAuthorized) throw new Error('PayPal lacks captureAuthorized')
  return await paypal.captureAuthorized(request)
}

/** Creates an order, approves it as the payer, and captures it. */
export async function capturedOrder(harness: Awaited<ReturnType<typeof paypalHarness>>) {
  const ref = await approvedOrder(harness)
  const { evidence } = await capture(harness.paypal, ref, 'c1')
  const captureId = evidence.provider_payment_id ?? ''
  return { ref: { ...ref, provider_payment_id: captureId }, captureId }
}

/** Creates an order that is captured manually, approves it as the payer, and authorizes it. */
export async function authorizedOrder({ fake, paypal }: Awaited<ReturnType<typeof paypalHarness>>): Promise<IntentRef> {
  const { provider_intent_id } = await paypal.createIntent({ ...createRequest, capture_method: 'manual' })
  fake.approve(provider_intent_id)
  const ref = refTo(provider_intent_id, 'manual')
  await capture(paypal, ref, 'a1')
  return ref
}
