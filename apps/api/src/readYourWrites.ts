// Read your writes without client support: adds X-Read-After for a caller that has just written.
import { credentialKey } from '@paylog/runtime/limits/credentialLimits'
import type { FastifyInstance } from 'fastify'

/** Older callers are forgotten. They may read stale data, as without this hook. */
const maxCallers = 10_000

/**
 * Remembers the position of the last write of each credential and makes later reads of that credential wait for it. An
 * X-Read-After from the client is kept.
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
    // Delete first, so that the order of the map is the order of the last writes.
    positions.delete(caller)
    positions.set(caller, position)
    const [oldest] = positions.keys()
    if (positions.size > maxCallers && oldest !== undefined) positions.delete(oldest)
  })
}
