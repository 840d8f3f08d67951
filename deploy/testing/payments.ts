// A guest's payments by the sandbox provider, through the edge of a running deployment.
import { randomUUID } from 'node:crypto'
import { signSandboxEvent } from '@paylog/providers/sandbox/notifications'

/** `sandboxSecret` signs the provider's notifications. */
export type Target = { readonly url: string; readonly sandboxSecret: string }

export const guest = { 'x-guest-token': 'demo-guest-token' }
export const admin = { 'x-session-id': 'demo-admin-session' }
const amountCents = 2599

export async function request({ url }: Pick<Target, 'url'>, path: string, init: RequestInit = {}) {
  const response = await fetch(`${url}${path}`, { signal: AbortSignal.timeout(30_000), ...init })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json')
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson && text !== '' ? JSON.parse(text) : undefined,
  }
}

/** @param options a repetition with the same `key` is the same payment; `concept` can be found in the lists */
export const pay = (target: Target, { key = randomUUID() as string, concept = 'A test' } = {}) =>
  request(target, '/payments/intents', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify({
      total_cents: amountCents,
      currency: 'EUR',
      provider_id: 'sandbox',
      concept,
      guest_data: { email: 'guest@example.com', name: 'Guest Example' },
    }),
  })

/** Sends the provider's notification that the payment has succeeded. @param event its id: a repetition has the same one */
export function settle(target: Target, intent: string, event: string = randomUUID()) {
  const created = Math.floor(Date.now() / 1000)
  const object = { id: intent, amount: amountCents, currency: 'eur', status: 'succeeded', customer: null }
  const body = JSON.stringify({ id: `evt_${event}`, type: 'payment_intent.succeeded', created, data: { object } })
  const signature = signSandboxEvent(target.sandboxSecret, body, created)
  const headers = { 'content-type': 'application/json', 'sandbox-signature': signature }
  return request(target, '/webhooks/sandbox', { method: 'POST', headers, body })
}
