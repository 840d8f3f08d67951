// The demo's own webhook endpoint: what an operator's program does with what Paylog sends.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'

/** The part of a canonical webhook (interface, section 6.2) that the demo tells about. */
const CanonicalWebhook = Type.Object({
  event: Type.String(),
  data: Type.Object({
    payment_id: Type.String(),
    amount: Type.Integer(),
    currency: Type.String(),
    status: Type.String(),
  }),
})
type CanonicalWebhook = Static<typeof CanonicalWebhook>

export type Arrival = {
  readonly id: string
  readonly signatureIsValid: boolean
  readonly webhook: CanonicalWebhook
  readonly at: Date
}

export type WebhookEndpoint = {
  readonly url: string
  /** Everything that has come, as soon as it is this much. */
  arrivals(count: number, signal: AbortSignal): Promise<readonly Arrival[]>
  close(): void
}

/** @param secret as in WEBHOOK_n_SECRET: `whsec_` and the key in base64 */
export async function openWebhookEndpoint(secret: string): Promise<WebhookEndpoint> {
  const arrived: Arrival[] = []
  const news = new EventEmitter()
  const server = createServer((request, response) => {
    text(request)
      .then((body) => {
        const at = new Date()
        const webhook: unknown = JSON.parse(body)
        if (!Value.Check(CanonicalWebhook, webhook)) return void response.writeHead(400).end()
        const id = String(request.headers['webhook-id'])
        arrived.push({ id, signatureIsValid: isSigned(secret, request.headers, body), webhook, at })
        response.end()
        news.emit('arrival')
      })
      // The caller broke off, or what it sent is no JSON.
      .catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The endpoint has no port')
  return {
    url: `http://127.0.0.1:${address.port}/webhooks`,
    async arrivals(count, signal) {
      while (arrived.length < count) await once(news, 'arrival', { signal })
      return arrived
    },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** A signature by the Standard Webhooks specification: HMAC over id, time and the body as it came. */
function isSigned(secret: string, headers: IncomingHttpHeaders, body: string): boolean {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const content = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  const expected = Buffer.from(`v1,${createHmac('sha256', key).update(content).digest('base64')}`)
  return String(headers['webhook-signature'])
    .split(' ')
    .some((signature) => {
      const given = Buffer.from(signature)
      return given.length === expected.length && timingSafeEqual(given, expected)
    })
}
