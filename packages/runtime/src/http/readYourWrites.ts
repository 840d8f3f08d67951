// Read your writes without client support: adds X-Read-After to the reads of a credential that has just written.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { credentialKey } from '../limits/credentialLimits.ts'
import { recentKeys } from '../process/recentKeys.ts'
import type { Logger } from '../telemetry/log.ts'
import type { UseRedis } from './sharedRedis.ts'

/** Longer than any projection should be behind. */
const rememberedMs = 60_000

/**
 * Remembers the position of the last write of each credential and makes later reads with that credential wait for it: in
 * all processes that share a Redis, otherwise in this process. An X-Read-After from the client is kept.
 */
export function readYourWrites(http: FastifyInstance, useRedis: UseRedis): void {
  const lastWrites = rememberWrites(useRedis)
  const lookUps = new WeakMap<FastifyRequest, Promise<bigint | undefined>>()

  // Not awaited: the response of Redis arrives while the credential is validated.
  http.addHook('onRequest', async (request) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return
    if (request.headers['x-read-after'] !== undefined) return
    const caller = credentialKey(request)
    if (caller !== undefined) lookUps.set(request, lastWrites.find(caller))
  })

  // Before the header is validated.
  http.addHook('preValidation', async (request) => {
    const position = await lookUps.get(request)
    if (position !== undefined) request.headers['x-read-after'] = String(position)
  })

  // Before the response, so that a client that has it finds its write.
  http.addHook('onSend', async (request, reply) => {
    const position = reply.getHeader('x-event-position')
    const caller = typeof position === 'string' ? credentialKey(request) : undefined
    if (caller !== undefined) await lastWrites.remember(caller, BigInt(String(position)))
  })
}

/** Logs a warning without Redis. For apps that serve either writes or reads. */
export function warnWithoutRedis({ REDIS_URL }: { readonly REDIS_URL?: string }, log: Pick<Logger, 'warn'>): void {
  if (REDIS_URL === undefined)
    log.warn('Without REDIS_URL, reads wait for writes only if the client sends X-Read-After')
}

/** One atomic script: of two processes that write at the same time, the later position stays. */
const script = `
local known = redis.call('GET', KEYS[1])
-- Lua's numbers are inexact at 64 bits, so compare the length, then the text.
if not known or #known < #ARGV[1] or (#known == #ARGV[1] and known < ARGV[1]) then
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
end`

const redisKey = (caller: string) => `paylog-last-write:${caller}`

function rememberWrites(useRedis: UseRedis) {
  // Also with Redis, for the time when it is down.
  const here = recentKeys<bigint>()
  return {
    async find(caller: string): Promise<bigint | undefined> {
      const own = here.get(caller)
      const shared = await useRedis(async (redis) => BigInt((await redis.get(redisKey(caller))) ?? 0))
      return shared !== undefined && shared > (own ?? 0n) ? shared : own
    },
    async remember(caller: string, position: bigint): Promise<void> {
      if (position > (here.get(caller) ?? -1n)) here.set(caller, position)
      await useRedis((redis) => redis.eval(script, 1, redisKey(caller), String(position), rememberedMs))
    },
  }
}
