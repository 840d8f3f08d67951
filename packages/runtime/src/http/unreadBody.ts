// Answers that come before the body has: what of it is still being sent is read, so that the answer gets through.
import type { IncomingMessage } from 'node:http'
import { finished } from 'node:stream/promises'
import type { FastifyInstance } from 'fastify'

const readTimeoutMs = 2_000

/**
 * Has an answer after which the connection closes wait until the body is there, for two seconds at most. Closing with
 * something unread resets the connection, and a client that is still sending may never see the answer (RFC 9112, 9.6).
 * On a connection that stays open, Node reads what comes after the answer.
 *
 * To be called after every other hook that may close the connection.
 */
export function readBodyBeforeClosing(http: FastifyInstance): void {
  http.addHook('onSend', async ({ raw }, reply) => {
    const isLast = !reply.raw.shouldKeepAlive || reply.getHeader('connection') === 'close'
    if (isLast && !raw.complete) await readToEnd(raw)
  })
}

async function readToEnd(body: IncomingMessage): Promise<void> {
  body.resume()
  // Whether the rest came, came too late or never comes, there is nothing more to do than to answer.
  await finished(body, { signal: AbortSignal.timeout(readTimeoutMs) }).catch(() => undefined)
}
