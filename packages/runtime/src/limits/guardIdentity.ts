// Keeps those who guess credentials away from the identity backend.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { clientNetwork } from '../http/networks.ts'
import { credentialKeys } from './credentialKeys.ts'
import { refuseForNow, sayLimit } from './rateLimited.ts'
import type { CountRequests } from './requestCounts.ts'

/** Of one client address, in one process: so many may be under way beyond what is left of the limit. */
const mostUnderWay = 100
/** How long the backend may go on with a request whose client has left. */
const judgedWithinMs = 5_000

/**
 * After `max` credentials from one client address in a minute that were not valid, none from there is looked at until the
 * minute is over; those beside a valid one count as well, or they would be guesses for nothing. The answers of requests that are under way are not known yet, so their number is bounded too; without
 * that, a thousand guesses at once would all be looked at.
 * @param options `max` 0 is no limit; `count` counts what was not valid
 */
export function guardIdentity(
  scope: FastifyInstance,
  { max, count }: { readonly max: number; readonly count: CountRequests },
): void {
  if (max === 0) return
  const underWay = createUnderWay()

  scope.addHook('onRequest', async (request, reply) => {
    if (request.routeOptions.config.isForProviders || credentialKeys(request).length === 0) return
    const address = clientNetwork(request.ip)
    // Entered before the look: what ends in between is then in the count.
    const before = underWay.enter(address, request, reply)
    const [found = { count: 0, restMs: 0 }] = await count([keyOf(address)], 0)
    if (found.count >= max) {
      sayLimit(reply, max, found)
      refuseForNow(reply, found.restMs)
    }
    if (found.count + before >= max + mostUnderWay) refuseForNow(reply, 0)
  })
  // Before the answer is sent, so that who waits for it cannot be faster than the count, and who leaves is counted as well.
  scope.addHook('onSend', async (request) => {
    const address = underWay.addressOf(request)
    if (address === undefined) return
    if (request.refusedCredentials > 0) await count([keyOf(address)], request.refusedCredentials)
    underWay.leave(request)
  })
}

const keyOf = (address: string) => `unauthenticated:${address}`

function createUnderWay() {
  const addresses = new WeakMap<FastifyRequest, string>()
  const counts = new Map<string, number>()
  const change = (address: string, by: number) => {
    const count = (counts.get(address) ?? 0) + by
    if (count === 0) counts.delete(address)
    else counts.set(address, count)
  }
  function leave(request: FastifyRequest): void {
    const address = addresses.get(request)
    if (address === undefined) return
    addresses.delete(request)
    change(address, -1)
  }
  return {
    addressOf: (request: FastifyRequest) => addresses.get(request),
    /** @returns how many of the address there were before */
    enter(address: string, request: FastifyRequest, reply: FastifyReply): number {
      const before = counts.get(address) ?? 0
      addresses.set(request, address)
      change(address, 1)
      // A client that leaves early may never be answered, and would be under way for ever.
      reply.raw.once('close', () => {
        if (addresses.has(request)) setTimeout(leave, judgedWithinMs, request).unref()
      })
      return before
    },
    leave,
  }
}
