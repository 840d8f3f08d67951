// A demo payment: what a guest and the sandbox provider do.
import { PaymentResource } from '@paylog/domain/payments/resource'
import { demoGuestTokens } from '@paylog/identity/sandboxIdentity'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { request } from 'undici'
import { StartError } from '../terminal.ts'

/** Each step takes milliseconds when it works. */
export const stepTimeoutMs = 15_000

const PaymentResponse = Type.Object({ data: PaymentResource })

/** @throws StartError when there is none */
export function demoGuest() {
  const [guest] = demoGuestTokens
  if (guest === undefined) throw new StartError('There is no demo guest.')
  return guest
}

/** A guest starts a payment of 22 EUR. @throws StartError */
export function startPayment(baseUrl: string): Promise<PaymentResource> {
  const { email, name } = demoGuest()
  return callForPayment('POST', `${baseUrl}/payments/intents`, {
    total_cents: 2200,
    currency: 'EUR',
    provider_id: 'sandbox',
    concept: 'Two tickets',
    guest_data: { email, name, phone: '+34600000000' },
  })
}

/** As administrators see it. @throws StartError */
export const paymentForAdministrators = (baseUrl: string, id: string): Promise<PaymentResource> =>
  callForPayment('GET', `${baseUrl}/admin/payments/${id}`, undefined, { 'x-session-id': 'demo-admin-session' })

/** Polls until the read model has applied the last event. @throws StartError */
export async function succeededPayment(baseUrl: string, id: string): Promise<PaymentResource> {
  const giveUpAt = performance.now() + stepTimeoutMs
  for (;;) {
    const payment = await callForPayment('GET', `${baseUrl}/payments/${id}?token=${demoGuest().token}`)
    if (payment.status === 'succeeded') return payment
    if (performance.now() > giveUpAt) throw new StartError(`The payment stayed ${payment.status}.`)
  }
}

async function callForPayment(
  method: 'GET' | 'POST',
  url: string,
  body?: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<PaymentResource> {
  const response = await request(url, {
    method,
    headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(stepTimeoutMs),
  })
  const content: unknown = await response.body.json()
  if (!Value.Check(PaymentResponse, content))
    throw new StartError(`${method} ${url} responded ${response.statusCode}: ${JSON.stringify(content)}`)
  return content.data
}
