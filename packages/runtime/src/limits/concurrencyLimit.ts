// Limits how many long responses one caller may have in progress.

import type { FastifyReply } from 'fastify'
import { throwRateLimited } from './requestCounts.ts'

/**
 * @param limit per caller, in this process
 * @returns a function that runs `find` for a caller. Throws DomainError `rate_limited`, with `Retry-After`, when the caller
 *   has reached the limit. A request counts until its response is sent, because the response is in memory until then.
 */
export function createConcurrencyLimit(limit: number) {
  const active = new Map<string, number>()
  const change = (caller: string, by: number) => {
    const count = (active.get(caller) ?? 0) + by
    if (count === 0) active.delete(caller)
    else active.set(caller, count)
  }
  return async <Found>(caller: string, reply: FastifyReply, find: () => Promise<Found>): Promise<Found> => {
    if ((active.get(caller) ?? 0) >= limit) throwRateLimited(reply, 0)
    change(caller, 1)
    const leave = () => change(caller, -1)
    try {
      return await find()
    } finally {
      // The query continues when the client disconnects.
      if (reply.raw.destroyed) leave()
      else reply.raw.once('close', leave)
    }
  }
}
