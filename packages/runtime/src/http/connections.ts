// Connection limits, and the pending responses of a connection, which may have several requests in flight.
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Logger } from '../telemetry/log.ts'
import { clientNetwork, inRanges } from './networks.ts'

/** The response that must be sent before anything else is written to a connection. */
export type PendingResponse = (socket: Socket) => ServerResponse | undefined

/** Tracks a server's responses. Incomplete requests count only if their response has started. */
export function watchPendingResponses(server: Server): PendingResponse {
  const open = new WeakMap<Socket, Set<ServerResponse>>()
  server.on('request', ({ socket }, response) => {
    const responses = open.get(socket) ?? new Set()
    open.set(socket, responses.add(response))
    response.once('close', () => responses.delete(response))
  })
  return (socket) => [...(open.get(socket) ?? [])].findLast(({ req, headersSent }) => req.complete || headersSent)
}

export type ConnectionLimits = {
  readonly max: number
  /** Per client address; 0 means no limit. */
  readonly maxPerAddress: number
  /** Addresses and ranges of proxies, which carry many clients and have no limit per address. */
  readonly proxies: readonly string[]
}

/** Requests handled concurrently per connection; the next ones start as responses are sent. */
const maxInFlight = 8
/** Node parses all requests of a packet at once, so pausing the connection would come too late. */
const maxQueued = 56
const warnEveryMs = 60_000

/**
 * `waiting` are the connections that wait for their client, longest first: it has sent nothing, a part of a request, or
 * nothing since the last response. The value is the request whose body is incomplete.
 */
type Pool = { readonly max: number; open: number; readonly waiting: Map<Socket, IncomingMessage | undefined> }
type Connection = {
  inFlight: number
  /** Start the requests that wait for earlier ones. */
  readonly queued: (() => void)[]
  readonly pools: readonly Pool[]
  readonly address: string
}

/**
 * A connection beyond a limit replaces the one that has waited longest for its client. If all connections are serving
 * requests, the new one is closed without a response. Per connection, eight requests are handled at a time and 56 wait; a
 * connection that sends more is closed, and so is one that has not read a response for the server's `timeout`.
 *
 * Must be called after the server's own handler is attached, and before any other listener for requests.
 */
export function limitConnections(server: Server, limits: ConnectionLimits, log: Pick<Logger, 'warn'>): void {
  const connections = admitConnections(server, limits, createRejectionWarning(log))

  const handlers = server.listeners('request')
  server.removeAllListeners('request')
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request
    const connection = connections.get(socket)
    // Node still parses requests from the packet that exceeded the limit.
    if (connection === undefined || socket.destroyed) return
    const begin = () => {
      if (socket.destroyed) return
      connection.inFlight += 1
      response.once('close', () => {
        connection.inFlight -= 1
        connection.queued.shift()?.()
        if (connection.inFlight > 0 || socket.destroyed) return
        for (const { waiting } of connection.pools) {
          waiting.delete(socket)
          waiting.set(socket, undefined)
        }
      })
      for (const handle of handlers) handle.call(server, request, response)
    }
    for (const { waiting } of connection.pools) {
      waiting.delete(socket)
      if (hasBody(request)) waiting.set(socket, request)
    }
    if (connection.inFlight < maxInFlight) begin()
    else if (connection.queued.length < maxQueued) connection.queued.push(begin)
    else socket.destroy()
  })

  // Without a listener Node would also close connections with a slow handler, and those that are about to get a 408.
  server.on('timeout', (socket: Socket) => {
    const isBetweenRequests = socket.timeout !== server.timeout
    if (socket.writableLength > 0 || isBetweenRequests) socket.destroy()
  })
}

const hasBody = ({ headers }: IncomingMessage) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/** @returns the open connections */
function admitConnections(
  server: Server,
  { max, maxPerAddress, proxies }: ConnectionLimits,
  warnRejected: () => void,
): ReadonlyMap<Socket, Connection> {
  const connections = new Map<Socket, Connection>()
  const all: Pool = { max, open: 0, waiting: new Map() }
  const ofAddress = new Map<string, Pool>()
  const isProxy = inRanges(proxies)

  const release = (socket: Socket) => {
    const { pools = [], address = '' } = connections.get(socket) ?? {}
    connections.delete(socket)
    for (const pool of pools) {
      pool.open -= 1
      pool.waiting.delete(socket)
    }
    if (ofAddress.get(address)?.open === 0) ofAddress.delete(address)
  }
  const hasCapacity = ({ open, max, waiting }: Pool): boolean => {
    if (open < max) return true
    for (const [socket, request] of waiting) {
      waiting.delete(socket)
      // The body has arrived meanwhile, so this request is being served.
      if (request?.complete) continue
      release(socket)
      socket.destroy()
      return true
    }
    return false
  }

  server.on('connection', (socket: Socket) => {
    const { remoteAddress = '' } = socket
    const address = clientNetwork(remoteAddress)
    const isCounted = maxPerAddress > 0 && !isProxy(remoteAddress)
    const own = ofAddress.get(address) ?? { max: maxPerAddress, open: 0, waiting: new Map() }
    // Its own pool first: an address at its limit must not replace connections of others.
    const pools = isCounted ? [own, all] : [all]
    if (!pools.every(hasCapacity)) {
      warnRejected()
      socket.destroy()
      return
    }
    if (isCounted) ofAddress.set(address, own)
    connections.set(socket, { inFlight: 0, queued: [], pools, address })
    for (const pool of pools) {
      pool.open += 1
      pool.waiting.set(socket, undefined)
    }
    socket.once('close', () => release(socket))
  })
  return connections
}

function createRejectionWarning(log: Pick<Logger, 'warn'>): () => void {
  let rejected = 0
  let warnedAt = Number.NEGATIVE_INFINITY
  return () => {
    rejected += 1
    if (performance.now() - warnedAt < warnEveryMs) return
    warnedAt = performance.now()
    log.warn({ refused: rejected }, 'connections rejected: MAX_CONNECTIONS or MAX_CONNECTIONS_PER_ADDRESS is reached')
    rejected = 0
  }
}
