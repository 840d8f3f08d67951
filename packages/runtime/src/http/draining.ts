// Shutdown of the server, and responses that are sent before the request body has arrived.
import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { finished } from 'node:stream/promises'
import type { FastifyInstance } from 'fastify'
import { watchHandlers } from './handlers.ts'

const readTimeoutMs = 2_000

/**
 * Delays the last response on a connection until the request body has arrived, by at most two seconds. Closing with unread
 * bytes resets the connection, and a client that is still sending may never see the response (RFC 9112, 9.6). On a
 * connection that stays open, Node reads the rest after the response.
 *
 * Must be called after every other hook that may close the connection.
 */
export function readBodyBeforeClosing(http: FastifyInstance): void {
  http.addHook('onSend', ({ raw }, reply, _payload, done) => {
    const isLast = !reply.raw.shouldKeepAlive || reply.getHeader('connection') === 'close'
    if (isLast && !raw.complete) void readToEnd(raw).then(() => done())
    else done()
  })
}

async function readToEnd(body: IncomingMessage): Promise<void> {
  body.resume()
  // After the timeout, respond without the rest.
  await finished(body, { signal: AbortSignal.timeout(readTimeoutMs) }).catch(() => undefined)
}

/** Incomplete requests are rejected this long after the close begins. */
const unsentTimeoutMs = 2_000
/** An event loop turn shorter than this had nothing to read. */
const quietLoopMs = 0.1
const quietTimeoutMs = 500

const closing = new WeakSet<Server>()

/** Whether a server has started to close; it may still have connections. */
export function isClosing({ server }: FastifyInstance): boolean {
  return closing.has(server)
}

/**
 * Makes `close()` finish requests and end in bounded time. Node's `close()` waits for idle connections and stops applying
 * its own timeouts. Here:
 * - bytes that have arrived are read first, because the system resets connections that are not accepted or have unread
 *   bytes;
 * - every response has `Connection: close`, and connections without a request in flight are closed;
 * - an incomplete request gets 408 after two seconds;
 * - handlers are awaited even if their client has disconnected, because they must record what they have started elsewhere.
 *
 * Must be called before routes are registered.
 */
export function drainOnClose(http: FastifyInstance): void {
  const { server } = http
  const connections = watchConnections(server)
  const settled = watchHandlers(http)
  const closeIdle = () => server.closeIdleConnections()
  server.on('request', (_request, response) => {
    // If the headers were sent before the close started, the client expects to reuse the connection.
    response.once('close', () => isClosing(http) && setImmediate(closeIdle))
  })
  http.addHook('onSend', (_request, reply, _payload, done) => {
    if (isClosing(http)) reply.header('connection', 'close')
    done()
  })
  http.addHook('preClose', async () => {
    closing.add(server)
    setTimeout(() => rejectUnsent(server, connections()), unsentTimeoutMs).unref()
    await waitForQuietLoop()
  })
  http.addHook('onClose', settled)
}

type Connection = { readonly socket: Socket; readonly isReceived: boolean }

/** @returns the open connections, and whether their last request is complete */
function watchConnections(server: Server): () => readonly Connection[] {
  const complete = new Map<Socket, () => boolean>()
  server.on('connection', (socket: Socket) => {
    complete.set(socket, () => false)
    socket.once('close', () => complete.delete(socket))
  })
  server.on('request', ({ socket }, response) => {
    complete.set(socket, () => response.req.complete || response.headersSent)
  })
  return () => [...complete].map(([socket, isComplete]) => ({ socket, isReceived: isComplete() }))
}

function rejectUnsent(server: Server, connections: readonly Connection[]): void {
  for (const { socket, isReceived } of connections) {
    if (isReceived) continue
    // The error that Node itself emits for request timeouts. A connection without a byte gets no response.
    const tooLate = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
    if (socket.bytesRead === 0) socket.destroy()
    else server.emit('clientError', tooLate, socket)
  }
}

/** Waits, for 500 ms at most, until an event loop turn has nothing to do. */
async function waitForQuietLoop(): Promise<void> {
  const latest = performance.now() + quietTimeoutMs
  for (let startedAt = performance.now(); startedAt < latest; startedAt = performance.now()) {
    await new Promise<void>((resolve) => setImmediate(resolve))
    await new Promise<void>((resolve) => setImmediate(resolve))
    if (performance.now() - startedAt < quietLoopMs) return
  }
}
