// Posts single webhooks to test endpoints, without database and queue.
import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import type { Test } from 'tap'
import { createEndpointAgent, type Resolver } from '../deliveries/send/endpointAgent.ts'
import { type PostResult, postWebhook } from '../deliveries/send/postWebhook.ts'
import type { SuccessStatus } from '../endpoints/endpointResponse.ts'
import type { WebhookFormat } from '../messages/chat/chatServices.ts'

type PosterOptions = {
  readonly timeoutMs?: number
  readonly successStatus?: SuccessStatus
  readonly format?: WebhookFormat
  readonly secrets?: readonly string[]
  readonly signal?: AbortSignal
}

/** @param allowed private ranges that are allowed */
export function createPoster(t: Test, allowed: readonly string[] = ['127.0.0.0/8'], resolver?: Resolver) {
  const agent = createEndpointAgent(allowed, resolver)
  t.teardown(() => agent.destroy())
  return (url: string, options: PosterOptions = {}): Promise<PostResult> => {
    const { timeoutMs = 2_000, format = 'json', secrets = [], ...more } = options
    return postWebhook({
      agent,
      endpoint: { url, format, timeoutMs },
      headers: { 'webhook-id': 'id-1' },
      body: '{"a":1}',
      successStatus: '200',
      secrets: () => secrets,
      now: () => new Date(),
      signal: new AbortController().signal,
      ...more,
    })
  }
}

/**
 * A bare TCP server.
 * @param onConnection called with each connection
 * @returns `127.0.0.1:<port>`
 */
export async function tcpEndpoint(t: Test, onConnection: (socket: Socket) => void, host = '127.0.0.1', port = 0) {
  const server = createServer((socket) => onConnection(socket.on('error', () => undefined)))
  return await listening(t, server, host, port)
}

/** A server that responds to the first request on each connection with these bytes. */
export async function rawEndpoint(t: Test, response: string | Buffer, end = true): Promise<string> {
  const host = await tcpEndpoint(t, (socket) => {
    socket.once('data', () => (end ? socket.end(response) : socket.write(response)))
  })
  return `http://${host}/`
}

/** @returns `<host>:<port>` once the server listens; it is closed with the test */
export async function listening(t: Test, server: Server, host = '127.0.0.1', port = 0): Promise<string> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  server.listen(port, host)
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The server has no TCP port')
  return `${host}:${address.port}`
}
