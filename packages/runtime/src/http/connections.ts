// Which requests of a connection have no answer yet, because several can be under way on one.
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Logger } from '../telemetry/log.ts'
import { clientNetwork, inRanges } from './networks.ts'

/** The answer that has to be through before anything else is written to a connection. */
export type PendingResponse = (socket: Socket) => ServerResponse | undefined

/** Keeps an eye on a server's requests. Those that were not sent to their end are owed nothing that has not begun. */
export function watchPendingResponses(server: Server): PendingResponse {
  const open = new WeakMap<Socket, Set<ServerResponse>>()
  server.on('request', ({ socket }, response) => {
    const responses = open.get(socket) ?? new Set()
    open.set(socket, responses.add(response))
    response.once('close', () => responses.delete(response))
  })
  return (socket) => [...(open.get(socket) ?? [])].findLast(({ req, headersSent }) => req.complete || headersSent)
}

// Bounds what connections may cost: how many there are, of all and of one address, and what one of them may have under way.

export type ConnectionLimits = {
  readonly max: number
  /** Of one client address; 0 is no limit. */
  readonly maxPerAddress: number
  /** Addresses and ranges whose connections carry many clients, and are not counted by address. */
  readonly proxies: readonly string[]
}

/** Of one connection; the next ones are begun as responses go out. */
const maxInFlight = 8
/** Node parses all requests of a packet at once, so pausing the connection would come too late. */
const maxQueued = 56
const warnEveryMs = 60_000

/**
 * `waiting` are the connections on which the client has the next move, in the order in which that began: they have sent
 * nothing, only part of a request, or nothing since the last response. Each has the request whose body is on its way.
 */
type Pool = { readonly max: number; open: number; readonly waiting: Map<Socket, IncomingMessage | undefined> }
type Connection = {
  inFlight: number
  /** Begin those that wait for earlier ones. */
  readonly queued: (() => void)[]
  readonly pools: readonly Pool[]
  readonly address: string
}

/**
 * A connection beyond a limit takes the place of the one that has kept us waiting longest. When all are being served, the
 * new one is closed without an answer. Of one connection eight requests are under way at a time and 56 wait; one that sends
 * more is closed, and so is one that has not read a response for as long as the server's `timeout`.
 *
 * To be called after the server's own handler is there, and before anything else listens for requests.
 */
export function limitConnections(server: Server, limits: ConnectionLimits, log: Pick<Logger, 'warn'>): void {
  const connections = admitConnections(server, limits, createRejectionWarning(log))

  const handlers = server.listeners('request')
  server.removeAllListeners('request')
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request
    const connection = connections.get(socket)
    // Those that came in the same packet as the one too many are still parsed.
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

  // Without a listener Node would also close those whose request takes us long, and who may still be told of a 408.
  server.on('timeout', (socket: Socket) => {
    const isBetweenRequests = socket.timeout !== server.timeout
    if (socket.writableLength > 0 || isBetweenRequests) socket.destroy()
  })
}

const hasBody = ({ headers }: IncomingMessage) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/** @returns those that are open */
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
  const hasCapacity = ({ open, max: most, waiting }: Pool): boolean => {
    if (open < most) return true
    for (const [socket, request] of waiting) {
      waiting.delete(socket)
      // The body has come meanwhile, so that this one is being served.
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
    // First its own: an address that has used up its share pushes out nobody else.
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
  let refused = 0
  let warnedAt = Number.NEGATIVE_INFINITY
  return () => {
    refused += 1
    if (performance.now() - warnedAt < warnEveryMs) return
    warnedAt = performance.now()
    log.warn({ refused }, 'connections are refused: MAX_CONNECTIONS or MAX_CONNECTIONS_PER_ADDRESS is reached')
    refused = 0
  }
}
