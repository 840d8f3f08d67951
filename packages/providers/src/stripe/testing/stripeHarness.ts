// Test support: the Stripe adapter connected to a fake Stripe, and event fixtures.

import { createServer, type RequestListener } from 'node:http'
import { listen } from '@paylog/testing/fakeServer'
import { type FakeStripe, startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import type { Test } from 'tap'
import type { CreateIntent, IntentRef, Provider, RefundCharge } from '../../provider.ts'
import { connectStripe } from '../../testing/providerHarness.ts'
import { readNotification } from '../notifications.ts'

/** Unix seconds, and the same time in ISO 8601. */
export const createdSeconds = 1_767_268_800
export const occurred_at = '2026-01-01T12:00:00.000Z'
export const intentFixture = { id: 'pi_1', amount: 2599, currency: 'eur', status: 'processing', customer: 'cus_1' }

export const eventFixture = (type: string, object: object, previous_attributes?: object) => ({
  id: 'evt_1',
  object: 'event',
  type,
  created: createdSeconds,
  data: { object, ...(previous_attributes ? { previous_attributes } : {}) },
})
export const readBody = (body: unknown) => readNotification(Buffer.from(JSON.stringify(body)))
export const readEvent = (type: string, object: object, previous?: object) =>
  readBody(eventFixture(type, object, previous))

export const payment_id = '018f0000-0000-7000-8000-000000000001'

export const createIntentRequest: CreateIntent = {
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

type StripeCapability =
  | 'retrieveIntent'
  | 'findIntents'
  | 'captureAuthorized'
  | 'refund'
  | 'completeNotification'
  | 'createSetupIntent'
  | 'methods'
/** Stripe has these optional capabilities. */
export type ConnectedStripe = Provider & { readonly [Name in StripeCapability]: NonNullable<Provider[Name]> }

type Options = { readonly timeoutMs?: number; readonly secretKey?: string; readonly now?: () => Date }

export async function stripeHarness(
  t: Test,
  { timeoutMs = 5000, secretKey = 'sk_test_example', now = () => new Date() }: Options = {},
): Promise<{ readonly fake: FakeStripe; readonly stripe: ConnectedStripe }> {
  const fake = await startFakeStripe(t, { now })
  return { fake, stripe: stripeAt(t, fake.origin, { timeoutMs, secretKey }) }
}

/** The adapter connected to a server with any listener. */
export async function stripeWithListener(
  t: Test,
  listener: RequestListener,
  options: Options = {},
): Promise<ConnectedStripe> {
  return stripeAt(t, await listen(t, createServer(listener)), options)
}

export function stripeAt(
  t: Test,
  apiBase: string,
  { timeoutMs = 5000, secretKey = 'sk_test_example' }: Options = {},
): ConnectedStripe {
  const stripe = connectStripe(t, { origin: apiBase, secretKey, webhookSecret: 'whsec_example' }, { timeoutMs })
  const { retrieveIntent, findIntents, captureAuthorized, refund, completeNotification } = stripe
  const { createSetupIntent, methods } = stripe
  if (!retrieveIntent || !findIntents || !captureAuthorized || !refund || !completeNotification)
    throw new Error('Stripe lacks a capability of payments')
  if (!createSetupIntent || !methods) throw new Error('Stripe lacks a capability of methods')
  const ofPayments = { retrieveIntent, findIntents, captureAuthorized, refund, completeNotification }
  return { ...stripe, ...ofPayments, createSetupIntent, methods }
}

/** A harness with an existing customer. */
export async function withCustomer(t: Test) {
  const { fake, stripe } = await stripeHarness(t)
  const { methods } = stripe
  const person = { idempotency_key: 'customer', user_id: 'u1', email: 'user@example.com', name: 'User Example' }
  const provider_customer_id = await methods.createCustomer(person)
  if (provider_customer_id === null) throw new Error('Stripe created no customer')
  return { fake, stripe, methods, person, provider_customer_id }
}

/** The reference that a payment holds to an intent. */
export function refOf(provider_intent_id: string): IntentRef {
  return {
    payment_id,
    provider_intent_id,
    provider_payment_id: null,
    currency: 'EUR',
    capture_method: 'automatic',
    created_at: '2026-01-01T12:00:00.000Z',
  }
}

export const refund_id = '018f0000-0000-7000-8000-0000000000f1'

/** A refund of a part of the payment's charge. */
export function refundRequest(provider_intent_id: string, request: Partial<RefundCharge> = {}): RefundCharge {
  return {
    ...refOf(provider_intent_id),
    idempotency_key: refund_id,
    refund_id,
    amount_cents: 599,
    is_whole: false,
    reason: 'requested_by_customer',
    requested_at: '2026-01-01T12:00:00.000Z',
    is_repeated: false,
    ...request,
  }
}

/** A harness with an intent of the payment, and its charge once it is paid. */
export async function withIntent(t: Test, request: Partial<CreateIntent> = {}, options: Options = {}) {
  const { fake, stripe } = await stripeHarness(t, options)
  const { provider_intent_id: id } = await stripe.createIntent({ ...createIntentRequest, ...request })
  return { fake, stripe, id, chargeId: () => fake.intent(id).latest_charge ?? '' }
}
