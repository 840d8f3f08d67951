// Read your writes without asking: the api adds X-Read-After for a caller that has just written through it.
import { credentialKey } from '@paylog/runtime/limits/credentialLimits'
import type { FastifyInstance } from 'fastify'

/** The callers of the recent past; who is forgotten reads what the read model has, as without this. */
const maxCallers = 10_000

/**
 * Remembers the position of each credential's last write and asks the reads of the same credential to wait for it. A
 * header that the client sends itself is left alone.
 */
export function readYourWrites(app: FastifyInstance): void {
  const positions = new Map<string, string>()

  app.addHook('onRequest', async (request) => {
    if (request.method !== 'GET' || request.headers['x-read-after'] !== undefined) return
    const caller = credentialKey(request)
    const position = caller === undefined ? undefined : positions.get(caller)
    if (position !== undefined) request.headers['x-read-after'] = position
  })

  app.addHook('onSend', async (request, reply) => {
    const position = reply.getHeader('x-event-position')
    if (typeof position !== 'string') return
    const caller = credentialKey(request)
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
