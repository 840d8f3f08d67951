// Payments over the public API, at the sandbox provider.
import { signSandboxEvent } from '@paylog/providers/sandbox/notifications'
import type { TestSystem } from '@paylog/testing/system'
import { waitFor } from '@paylog/testing/waitFor'
import { admin } from './consoleHarness.ts'

let counter = 0

/** A guest's payment. @param fields of the body, over the default ones @returns its id */
export async function openPayment(
  { baseUrl }: TestSystem,
  { email, ...fields }: { readonly email: string; readonly total_cents: number } & Readonly<Record<string, unknown>>,
): Promise<string> {
  const body = {
    currency: 'EUR',
    provider_id: 'sandbox',
    concept: 'Tickets',
    guest_data: { email, name: 'Guest Example', phone: '+34600000000' },
    ...fields,
  }
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${baseUrl}/payments/intents`, { method: 'POST', headers, body: JSON.stringify(body) })
  return JSON.parse(await response.text()).data.id
}

/** The provider reports the outcome, which can be read when this returns. @param more fields of the reported object */
export async function settlePayment(system: TestSystem, id: string, status = 'succeeded', more = {}): Promise<void> {
  const paymentNow = () => readPayment(system, id)
  const { provider_intent_id, total_cents, currency } = await waitFor(
    async () => (await paymentNow())?.provider_intent_id && (await paymentNow()),
    { what: 'the payment' },
  )
  const object = {
    id: provider_intent_id,
    amount: total_cents,
    currency: currency.toLowerCase(),
    status,
    customer: null,
    ...more,
  }
  await notify(system, `payment_intent.${status}`, object)
  await waitFor(async () => (await paymentNow())?.status === status, { what: 'the outcome' })
}

/** The payer's bank disputes the whole payment, which can be read when this returns. */
export async function disputePayment(system: TestSystem, id: string): Promise<void> {
  const { provider_intent_id: intent, total_cents: amount } = await readPayment(system, id)
  await notify(system, 'dispute.created', { id: `dp_${id}`, payment_intent: intent, amount, status: 'needs_response' })
  await waitFor(async () => (await readPayment(system, id)).dispute_status === 'open', { what: 'the dispute' })
}

async function notify({ baseUrl, sandboxSecret }: TestSystem, type: string, object: object): Promise<void> {
  const created = Math.floor(Date.now() / 1000)
  const body = JSON.stringify({ id: `evt_${counter++}`, type, created, data: { object } })
  const headers = {
    'content-type': 'application/json',
    'sandbox-signature': signSandboxEvent(sandboxSecret, body, created),
  }
  await fetch(`${baseUrl}/webhooks/sandbox`, { method: 'POST', headers, body })
}

export const readPayment = (system: TestSystem, id: string) => read(system, `/admin/payments/${id}`)

export const readRefunds = (system: TestSystem, id: string) => read(system, `/payments/${id}/refunds`)

/** What administrators did to the payment. */
export const readTrail = (system: TestSystem, id: string) => read(system, `/admin/audit-trail?target=${id}`)

async function read({ baseUrl }: TestSystem, path: string) {
  const response = await fetch(`${baseUrl}${path}`, { headers: admin })
  return JSON.parse(await response.text()).data
}
