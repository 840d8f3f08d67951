// Shared by the tests of the whole system: webhook endpoints, and a client that opens and settles payments.
import { signSandboxEvent } from '@paylog/providers/sandbox/notifications'
import type { TestSystem } from '@paylog/testing/system'

export const signingSecret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
let counter = 0

export const asAda = { 'x-session-id': 'demo-session' }

export function client({ baseUrl, sandboxSecret }: TestSystem) {
  async function call(path: string, init: RequestInit = {}) {
    const response = await fetch(`${baseUrl}${path}`, { signal: AbortSignal.timeout(30_000), ...init })
    return { status: response.status, body: (await response.json()) as { data?: unknown; meta?: unknown } }
  }
  async function post(path: string, body: string, headers: Readonly<Record<string, string>>) {
    const result = await call(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    })
    if (result.status > 299) throw new Error(`${path}: ${result.status} ${JSON.stringify(result.body)}`)
    return result.body.data
  }
  return {
    call,
    /** Opens a payment of Ada's. */
    open: async () =>
      (await post('/payments/intents', JSON.stringify({ total_cents: 2599, currency: 'EUR' }), asAda)) as {
        id: string
        provider_intent_id: string
      },
    /** Sends the notification that the payment of an intent has succeeded. */
    async settle(intent: string) {
      const created = Math.floor(Date.now() / 1000)
      const object = { id: intent, amount: 2599, currency: 'eur', status: 'succeeded', customer: null }
      const event = { id: `evt_${counter++}`, type: 'payment_intent.succeeded', created, data: { object } }
      const body = JSON.stringify(event)
      await post('/webhooks/sandbox', body, { 'sandbox-signature': signSandboxEvent(sandboxSecret, body, created) })
    },
  }
}

export const endpointVariables = (canonicalUrl: string, bothUrl: string) => ({
  WEBHOOK_1_ENABLED: 'true',
  WEBHOOK_1_URL: canonicalUrl,
  WEBHOOK_1_SECRET: signingSecret,
  WEBHOOK_2_ENABLED: 'true',
  WEBHOOK_2_URL: bothUrl,
  WEBHOOK_2_EVENT_MODE: 'both',
})
