// Test support: the PayPal adapter connected to a fake PayPal, and notifications.
import { createServer, type RequestListener } from 'node:http'
import { listen } from '@paylog/testing/fakeServer'
import { event } from '@paylog/testing/paypal/events'
import { type FakePaypalOptions, startFakePaypal } from '@paylog/testing/paypal/fakePaypal'
import type { Test } from 'tap'
import type { CreateIntent, IntentRef } from '../../provider.ts'
import { type ConnectedProvider, connect } from '../../testing/providerHarness.ts'
import { createRequest, refTo } from '../../testing/requests.ts'
import { readNotification } from '../notifications.ts'

export const orderRequest: CreateIntent = { ...createRequest, amount_cents: 1999, description: 'Two tickets' }

export type PaypalHarness = Awaited<ReturnType<typeof paypalHarness>>

/** @param options `timeoutMs` of every call, and the fake's options */
export async function paypalHarness(
  t: Test,
  { timeoutMs, ...options }: FakePaypalOptions & { readonly timeoutMs?: number } = {},
) {
  const fake = await startFakePaypal(t, options)
  return { fake, paypal: await connect(t, fake.env, { timeoutMs }) }
}

/** The adapter connected to a server whose listener gets all calls except the token request. */
export async function paypalWithListener(t: Test, listener: RequestListener) {
  const server = createServer((request, response) => {
    if (request.url !== '/v1/oauth2/token') return void listener(request, response)
    response.end('{"access_token":"A21AA","expires_in":32400}')
  })
  const account = { PAYPAL_CLIENT_ID: 'id', PAYPAL_CLIENT_SECRET: 'secret', PAYPAL_WEBHOOK_ID: 'W1' }
  const address = { PAYPAL_API_BASE: await listen(t, server), PAYPAL_MAX_PER_SECOND: '0' }
  return connect(t, { ...account, ...address }, { timeoutMs: 440 })
}

export function capture(paypal: ConnectedProvider, ref: IntentRef, idempotency_key: string) {
  return paypal.captureIntent({ ...ref, idempotency_key })
}

/** A harness with an order that the payer has approved. */
export async function withApproved(
  t: Test,
  options: FakePaypalOptions = {},
  capture_method: IntentRef['capture_method'] = 'automatic',
) {
  const { fake, paypal } = await paypalHarness(t, options)
  const { provider_intent_id } = await paypal.createIntent({ ...orderRequest, capture_method })
  fake.approve(provider_intent_id)
  return { fake, paypal, ref: refTo(provider_intent_id, { capture_method }) }
}

/** A harness with an order that is captured. */
export async function withCaptured(t: Test, options: FakePaypalOptions = {}) {
  const { ref, ...harness } = await withApproved(t, options)
  const { report } = await capture(harness.paypal, ref, 'c1')
  const captureId = report.provider_payment_id ?? ''
  return { ...harness, ref: { ...ref, provider_payment_id: captureId }, captureId }
}

/** A harness with an order of a manual payment that is authorized. */
export async function withAuthorized(t: Test) {
  const harness = await withApproved(t, {}, 'manual')
  await capture(harness.paypal, harness.ref, 'a1')
  return harness
}

export const readBody = ({ body }: { readonly body: string }) => readNotification(Buffer.from(body))

/** Reads a notification in PayPal's format. */
export function readEvent(type: string, resource: unknown, resource_type?: string) {
  const about = { resource: resource as object, ...(resource_type === undefined ? {} : { resource_type }) }
  return readBody(event(type, about))
}
