// Counts requests within windows of a minute: in Redis for all processes together, else for this one.
import type { Redis } from 'ioredis'
import type { Logger } from '../telemetry/log.ts'

export type Count = {
  readonly count: number
  /** Until it begins again. */
  readonly restMs: number
}

/** @param step how many to count, 0 to look only @returns for each key how many there are, in their order; it never throws */
export type CountRequests = (keys: readonly string[], step: number) => Promise<readonly Count[]>

const windowMs = 60_000
/** As many are counted at a time in this process, those that were seen last. */
const maxKeys = 50_000
/** How long Redis is left alone when it does not answer, so that not every request waits for it in vain. */
const pauseMs = 2_000
const warnEveryMs = 60_000

/**
 * A window begins with the first request of a key. While Redis does not answer, each process counts for itself: nobody is
 * refused, or let through without bounds, because Redis is away.
 * @param redis must answer or give up within the time that a request may be kept waiting
 */
export function countRequests(
  log: Pick<Logger, 'warn' | 'info'>,
  { redis, now = () => performance.now() }: { readonly redis?: Redis | undefined; readonly now?: () => number } = {},
): CountRequests {
  const countHere = createLocalCounts(now)
  if (redis === undefined) return async (keys, step) => countHere(keys, step)
  let isAway = false
  let leftAloneUntil = 0
  let warnedAt = Number.NEGATIVE_INFINITY
  return async (keys, step) => {
    if (now() < leftAloneUntil) return countHere(keys, step)
    try {
      const counts = await countInRedis(redis, keys, step)
      if (isAway) log.info('requests are counted in Redis again')
      isAway = false
      return counts
    } catch (error) {
      isAway = true
      leftAloneUntil = now() + pauseMs
      if (now() - warnedAt >= warnEveryMs) {
        warnedAt = now()
        log.warn({ err: error }, 'Redis does not answer: each process counts requests for itself')
      }
      return countHere(keys, step)
    }
  }
}

type Window = { readonly count: number; readonly endsAt: number }

function createLocalCounts(now: () => number) {
  // Two halves: when the later one is full, the earlier one is dropped. Dropping the oldest key alone would take ever
  // longer, as a Map leaves holes where its first entries were.
  let earlier = new Map<string, Window>()
  let later = new Map<string, Window>()
  return (keys: readonly string[], step: number): readonly Count[] => {
    const at = now()
    return keys.map((key) => {
      const known = later.get(key) ?? earlier.get(key)
      const { count, endsAt } = known && known.endsAt > at ? known : { count: 0, endsAt: at + windowMs }
      if (step > 0) later.set(key, { count: count + step, endsAt })
      if (later.size >= maxKeys / 2) [earlier, later] = [later, new Map()]
      return { count: count + step, restMs: endsAt - at }
    })
  }
}

/** In one go, so that there is no count without an end. */
const script = `
local counts = {}
for _, key in ipairs(KEYS) do
  local count
  if ARGV[1] ~= '0' then
    count = redis.call('INCRBY', key, ARGV[1])
    if redis.call('PTTL', key) < 0 then redis.call('PEXPIRE', key, ARGV[2]) end
  else
    count = tonumber(redis.call('GET', key) or '0')
  end
  counts[#counts + 1] = count
  counts[#counts + 1] = redis.call('PTTL', key)
end
return counts`

async function countInRedis(redis: Redis, keys: readonly string[], step: number): Promise<readonly Count[]> {
  const named = keys.map((key) => `paylog-limit:${key}`)
  const answer = await redis.eval(script, named.length, ...named, step, windowMs)
  if (!Array.isArray(answer)) throw new Error('Redis gave no counts')
  return keys.map((_, index) => {
    const restMs = Number(answer[2 * index + 1])
    return { count: Number(answer[2 * index]), restMs: restMs < 0 ? windowMs : restMs }
  })
}
