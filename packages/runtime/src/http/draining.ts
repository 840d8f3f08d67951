// Answers that come before the body has: what of it is still being sent is read, so that the answer gets through.
import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
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

// How a server closes: what was accepted is finished and answered, and nobody who only stays connected keeps it open.

/** Who has not sent its request to the end by then is not waited for. */
const unsentTimeoutMs = 2_000
/** A turn of the event loop that took less had nothing to read; and what comes in during it is reset by the close. */
const quietLoopMs = 0.1
const quietTimeoutMs = 500

const running = new WeakMap<FastifyInstance, ReadonlyMap<symbol, string>>()

/** The requests whose handlers have not ended, for the log: method, route and request id. */
export function requestsInFlight(http: FastifyInstance): readonly string[] {
  return [...(running.get(http)?.values() ?? [])]
}

const closing = new WeakSet<Server>()

/** Whether a server has begun to close; it may have connections yet. */
export function isClosing({ server }: FastifyInstance): boolean {
  return closing.has(server)
}

/**
 * Makes `close()` end by itself, unlike Node's, which waits for connections that ask for nothing and stops looking at its
 * own timeouts:
 * - what was sent before is read first: the system resets a connection that was not taken yet, or has something unread;
 * - every answer given meanwhile says `Connection: close`, and connections without a request under way are closed;
 * - a request that is not there completely is waited for two seconds, then refused with 408;
 * - it waits for handlers, also of clients that have left: what a handler has begun elsewhere it has to put on record.
 *
 * To be called before there are routes.
 */
export function drainOnClose(http: FastifyInstance): void {
  const { server } = http
  const connections = watchConnections(server)
  const settled = watchHandlers(http)
  const closeIdle = () => server.closeIdleConnections()
  server.on('request', (_request, response) => {
    // When its headers were out before the close began, the client thinks that it may go on.
    response.once('close', () => isClosing(http) && setImmediate(closeIdle))
  })
  http.addHook('onSend', async (_request, reply) => {
    if (isClosing(http)) reply.header('connection', 'close')
  })
  http.addHook('preClose', async () => {
    closing.add(server)
    setTimeout(() => rejectUnsent(server, connections()), unsentTimeoutMs).unref()
    await waitForQuietLoop()
  })
  http.addHook('onClose', settled)
}

type Connection = { readonly socket: Socket; readonly isReceived: boolean }

/** @returns those that are open, and whether a request on them is there to its end */
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
    // What Node itself says of such a request while it looks at its timeouts; who has said nothing is owed nothing.
    const tooLate = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
    if (socket.bytesRead === 0) socket.destroy()
    else server.emit('clientError', tooLate, socket)
  }
}

/** @returns waits until no handler runs */
function watchHandlers(http: FastifyInstance): () => Promise<void> {
  const names = new Map<symbol, string>()
  const ends = new Map<symbol, Promise<void>>()
  running.set(http, names)
  http.addHook('onRoute', (route) => {
    const { handler } = route
    route.handler = function watched(request, reply) {
      const result: unknown = handler.call(this, request, reply)
      if (!(result instanceof Promise)) return result
      const key = Symbol()
      names.set(key, `${request.method} ${request.routeOptions.url ?? ''} ${request.id}`)
      const ended = () => {
        names.delete(key)
        ends.delete(key)
      }
      ends.set(key, result.then(ended, ended))
      return result
    }
  })
  return async () => {
    while (ends.size > 0) await Promise.all(ends.values())
  }
}

/** Waits, not for long, until a turn of the event loop brings nothing to do. */
async function waitForQuietLoop(): Promise<void> {
  const latest = performance.now() + quietTimeoutMs
  for (let begun = performance.now(); begun < latest; begun = performance.now()) {
    await new Promise<void>((resolve) => setImmediate(resolve))
    await new Promise<void>((resolve) => setImmediate(resolve))
    if (performance.now() - begun < quietLoopMs) return
  }
}
