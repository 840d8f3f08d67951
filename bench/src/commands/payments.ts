// Creates payments as a client does, and sends bare requests of the same size.
import { demoSessions } from '@paylog/identity/sandboxIdentity'
import { request } from 'undici'
import type { Endpoint } from '../harness/privateSystem.ts'

export const authorization = `Bearer ${demoSessions[0]?.session_id}`
export const order = JSON.stringify({ total_cents: 2200, currency: 'EUR' })
const type = { 'content-type': 'application/json' }

/** @returns the payment id @throws when the response is not 201 */
export async function openPayment(baseUrl: string): Promise<string> {
  const headers = { ...type, authorization }
  const { statusCode, body } = await request(`${baseUrl}/payments/intents`, { method: 'POST', headers, body: order })
  const response = await body.text()
  if (statusCode !== 201) throw new Error(`The payment got ${statusCode}: ${response}`)
  return idIn(response)
}

/** A request as raw HTTP. @param head further header lines */
export function rawPost(
  path: string,
  { head = [], body }: { readonly head?: readonly string[]; readonly body: string },
) {
  const lines = [`POST ${path} HTTP/1.1`, 'host: bench', ...head, 'content-type: application/json']
  return `${lines.join('\r\n')}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}

/** The first id in a response, which is the payment's. */
export function idIn(response: string): string {
  const id = /"id":"([^"]+)"/.exec(response)?.[1]
  if (id === undefined) throw new Error(`There is no id in ${response}`)
  return id
}

const bareMessage = JSON.stringify({
  event: 'payment.bare',
  data: { payment_id: '', amount: 2200, currency: 'EUR', status: 'x'.repeat(600) },
})

/** POSTs a body of the size of a webhook. @returns the time in milliseconds */
export async function postBare({ url }: Endpoint): Promise<number> {
  const sent = performance.now()
  const { statusCode, body } = await request(url, { method: 'POST', headers: type, body: bareMessage })
  await body.text()
  if (statusCode !== 200) throw new Error(`The endpoint responded ${statusCode}`)
  return performance.now() - sent
}
