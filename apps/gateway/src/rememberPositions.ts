// Read your writes without asking: the gateway adds X-Read-After for a caller that has just written through it.
import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'

/** The callers of the recent past; who is forgotten reads what the read model has, as without this. */
const maxCallers = 10_000

/**
 * Remembers the position of each credential's last write and asks the reads of the same credential to wait for it. A
 * header that the client sends itself is left alone.
 */
export function rememberPositions(app: FastifyInstance): void {
  const positions = new Map<string, string>()

  app.addHook('onRequest', async (request) => {
    if (request.method !== 'GET' || request.headers['x-read-after'] !== undefined) return
    const caller = callerKey(request)
    const position = caller === undefined ? undefined : positions.get(caller)
    if (position !== undefined) request.headers['x-read-after'] = position
  })

  app.addHook('onSend', async (request, reply) => {
    const position = reply.getHeader('x-event-position')
    if (typeof position !== 'string') return
    const caller = callerKey(request)
    if (caller === undefined) return
    const known = positions.get(caller)
    if (known !== undefined && BigInt(known) >= BigInt(position)) return
    // Set anew, so that the map's order is the order of the last writes.
    positions.delete(caller)
    positions.set(caller, position)
    const [oldest] = positions.keys()
    if (positions.size > maxCallers && oldest !== undefined) positions.delete(oldest)
  })
}

/** Stands for the credentials of a request without keeping them. */
function callerKey({ headers, query }: FastifyRequest): string | undefined {
  const inQuery = query !== null && typeof query === 'object' ? query : {}
  const credentials = [
    headers.authorization?.replace(/^\S+\s+/, ''),
    headers['x-session-id'],
    headers['x-guest-token'],
    'session_id' in inQuery ? inQuery.session_id : undefined,
    'token' in inQuery ? inQuery.token : undefined,
  ].filter((credential) => typeof credential === 'string' && credential !== '')
  return credentials.length === 0
    ? undefined
    : createHash('sha256').update(JSON.stringify(credentials)).digest('base64')
}
