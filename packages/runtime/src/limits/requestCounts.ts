// Counts requests in windows of one minute: in Redis across processes, otherwise in this process.
import { createHmac } from 'node:crypto'
import { DomainError } from '@paylog/domain/errors'
import type { FastifyReply } from 'fastify'
import type { Redis } from 'ioredis'
import type { UseRedis } from '../http/sharedRedis.ts'
import { recentKeys } from '../process/recentKeys.ts'

export type RequestCount = {
  readonly count: number
  /** Time until the window ends. */
  readonly restMs: number
}

/**
 * Never throws.
 * @param step how much to add to each count; negative to subtract
 * @returns the count of each key, in the order of the keys
 */
export type CountRequests = (keys: readonly string[], step: number) => Promise<readonly RequestCount[]>

const windowMs = 60_000

/**
 * A window begins with the first request of a key. Without Redis, and while it is unavailable, each process counts for
 * itself, so that limits still apply and no request fails.
 * @param options `secret`: names in Redis are hashed with it, because some hold a client's address; the same in all processes
 */
export function countRequests({
  useRedis,
  secret = '',
  now = () => performance.now(),
}: {
  readonly useRedis?: UseRedis
  readonly secret?: string
  readonly now?: () => number
} = {}): CountRequests {
  const countLocally = createLocalCounts(now)
  const nameOf = (key: string) => `paylog-limit:${createHmac('sha256', secret).update(key).digest('base64url')}`
  return async (keys, step) =>
    (await useRedis?.((redis) => countInRedis(redis, keys.map(nameOf), step))) ?? countLocally(keys, step)
}

type Window = { count: number; readonly endsAt: number }

function createLocalCounts(now: () => number) {
  const windows = recentKeys<Window>()
  return (keys: readonly string[], step: number): readonly RequestCount[] => {
    const at = now()
    return keys.map((key) => {
      let window = windows.get(key)
      if (window === undefined || window.endsAt <= at) {
        window = { count: 0, endsAt: at + windowMs }
        windows.set(key, window)
      }
      window.count += step
      return { count: window.count, restMs: Math.round(window.endsAt - at) }
    })
  }
}

/** One atomic script, so that no count is left without an expiry. */
const script = `
local counts = {}
for _, key in ipairs(KEYS) do
  counts[#counts + 1] = redis.call('INCRBY', key, ARGV[1])
  if redis.call('PTTL', key) < 0 then redis.call('PEXPIRE', key, ARGV[2]) end
  counts[#counts + 1] = redis.call('PTTL', key)
end
return counts`

async function countInRedis(redis: Redis, names: readonly string[], step: number): Promise<readonly RequestCount[]> {
  const result = await redis.eval(script, names.length, ...names, step, windowMs)
  if (!Array.isArray(result)) throw new Error('Redis returned no counts')
  return names.map((_, index) => {
    const restMs = Number(result[2 * index + 1])
    return { count: Number(result[2 * index]), restMs: restMs < 0 ? windowMs : restMs }
  })
}

/** Sets the headers with which a client can stay within a limit of `max` per window. */
export function setLimitHeaders(reply: FastifyReply, max: number, { count, restMs }: RequestCount): void {
  reply.headers({
    'ratelimit-limit': max,
    'ratelimit-remaining': Math.max(0, max - count),
    'ratelimit-reset': Math.ceil(restMs / 1_000),
  })
}

/** @throws DomainError `rate_limited`, with `Retry-After` */
export function throwRateLimited(reply: FastifyReply, restMs: number): never {
  const seconds = Math.max(1, Math.ceil(restMs / 1_000))
  reply.header('retry-after', seconds)
  throw new DomainError('rate_limited', 'Too many requests; try again later', { retry_after_seconds: seconds })
}
