// The demo's webhook endpoint. It verifies signatures as a real receiver does.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'

/** The fields of a canonical webhook (interface, section 6.2) that the demo shows. */
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
  /** Resolves with all webhooks received so far when there are at least `count`. */
  arrivals(count: number, signal: AbortSignal): Promise<readonly Arrival[]>
  close(): void
}

/** @param secret in the form of WEBHOOK_n_SECRET: `whsec_` and the base64 key */
export async function openWebhookEndpoint(secret: string): Promise<WebhookEndpoint> {
  const arrived: Arrival[] = []
  const emitter = new EventEmitter()
  const server = createServer((request, response) => {
    text(request)
      .then((body) => {
        const at = new Date()
        const webhook: unknown = JSON.parse(body)
        if (!Value.Check(CanonicalWebhook, webhook)) return void response.writeHead(400).end()
        const id = String(request.headers['webhook-id'])
        arrived.push({ id, signatureIsValid: isSigned(secret, request.headers, body), webhook, at })
        response.end()
        emitter.emit('arrival')
      })
      // The client disconnected, or the body is not JSON.
      .catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The endpoint has no port')
  return {
    url: `http://127.0.0.1:${address.port}/webhooks`,
    async arrivals(count, signal) {
      while (arrived.length < count) await once(emitter, 'arrival', { signal })
      return arrived
    },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** Standard Webhooks signature: HMAC over id, timestamp and the raw body. */
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
