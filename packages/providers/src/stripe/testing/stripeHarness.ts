// Test support: the Stripe adapter connected to a fake Stripe, and event fixtures.

import { createServer, type RequestListener } from 'node:http'
import { listen } from '@paylog/testing/fakeServer'
import { startFakeStripe } from '@paylog/testing/stripe/fakeStripe'
import type { Test } from 'tap'
import type { CreateIntent, RefundCharge } from '../../provider.ts'
import { connect } from '../../testing/providerHarness.ts'
import { createRequest, refTo, refundOf } from '../../testing/requests.ts'
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

type Options = { readonly timeoutMs?: number; readonly secretKey?: string; readonly now?: () => Date }

export async function stripeHarness(t: Test, { timeoutMs, ...options }: Options = {}) {
  const fake = await startFakeStripe(t, options)
  return { fake, stripe: await connect(t, fake.env, { timeoutMs }) }
}

/** The adapter connected to a server with any listener. Without time for a second attempt by default. */
export async function stripeWithListener(t: Test, listener: RequestListener, { timeoutMs = 440 } = {}) {
  const account = { STRIPE_SECRET_KEY: 'sk_test_example', STRIPE_WEBHOOK_SECRET: 'whsec_example' }
  const server = { STRIPE_API_BASE: await listen(t, createServer(listener)), STRIPE_MAX_PER_SECOND: '0' }
  return connect(t, { ...account, ...server }, { timeoutMs })
}

/** The adapter connected to a server that always sends the latest response. A body that is no text is sent as JSON. */
export async function stripeResponding(t: Test, ...first: readonly [body?: unknown, status?: number]) {
  let [body, status = 200] = first
  const stripe = await stripeWithListener(t, (_request, response) => {
    response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  const respond = (next: unknown, nextStatus = 200) => {
    ;[body, status] = [next, nextStatus]
  }
  return { stripe, respond }
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

/** A refund of a part of the payment's charge. */
export const refundRequest = (provider_intent_id: string, more: Partial<RefundCharge> = {}) =>
  refundOf(refTo(provider_intent_id), { reason: 'requested_by_customer', ...more })

/** A harness with an intent of the payment, and its charge once it is paid. */
export async function withIntent(t: Test, request: Partial<CreateIntent> = {}, options: Options = {}) {
  const { fake, stripe } = await stripeHarness(t, options)
  const { provider_intent_id: id } = await stripe.createIntent({ ...createRequest, ...request })
  return { fake, stripe, id, chargeId: () => fake.intent(id).latest_charge ?? '' }
}

/** A harness with an intent that the payer has paid, or authorized. */
export async function withPaid(...given: Parameters<typeof withIntent>) {
  const harness = await withIntent(...given)
  harness.fake.pay(harness.id, 'succeeded')
  return harness
}
