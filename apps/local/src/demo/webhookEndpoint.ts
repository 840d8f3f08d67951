// The demo's webhook endpoint: it verifies signatures, as every receiver should.
import { EventEmitter, once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { type CanonicalMessage, verifyWebhook } from '@paylog/client/verifyWebhook'

export type Arrival = {
  readonly webhook: Extract<CanonicalMessage, { event: 'payment.created' | 'payment.succeeded' }>
  readonly at: Date
}

export type WebhookEndpoint = {
  readonly url: string
  /** Resolves with all webhooks received so far when there are at least `count`. */
  arrivals(count: number, signal: AbortSignal): Promise<readonly Arrival[]>
  close(): void
}

/**
 * Responds 400 to requests without a valid signature.
 * @param secret in the form of WEBHOOK_n_SECRET: `whsec_` and the base64 key
 */
export async function openWebhookEndpoint(secret: string): Promise<WebhookEndpoint> {
  const arrived: Arrival[] = []
  const emitter = new EventEmitter()
  const server = createServer((request, response) => {
    text(request)
      .then((body) => {
        const at = new Date()
        const webhook = verifyWebhook(body, request.headers, secret)
        if (webhook.event === 'payment.created' || webhook.event === 'payment.succeeded') arrived.push({ webhook, at })
        response.end()
        emitter.emit('arrival')
      })
      .catch(() => response.writeHead(400).end())
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
