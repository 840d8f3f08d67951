// The Redis that all processes of the APIs share. Requests neither fail because of it nor wait long for it.
import { Redis } from 'ioredis'
import type { Logger } from '../telemetry/log.ts'

/**
 * Runs commands in Redis. Never throws.
 * @returns undefined when they failed or there was no response in time
 */
export type UseRedis = <Result>(run: (redis: Redis) => Promise<Result>) => Promise<Result | undefined>

export const refusedByRedis = 'Redis refuses the login in REDIS_URL'

/** Whether Redis is there, and does not accept user or password. */
export const isRefusedByRedis = (error: unknown): error is Error =>
  error instanceof Error && /^(WRONGPASS|NOAUTH|NOPERM)/.test(error.message)

/** Low, because requests wait for it; not lower, because on a busy machine reads would then be stale without an outage. */
const responseTimeoutMs = 250
const connectTimeoutMs = 1_000
const silenceTimeoutMs = 5_000
const warnEveryMs = 60_000

/**
 * Connects to Redis. While it does not respond or is not connected, requests do not wait for it.
 * @param redisUrl undefined: there is no Redis
 */
export async function connectRedis(
  redisUrl: string | undefined,
  log: Pick<Logger, 'warn' | 'info'>,
): Promise<{ readonly useRedis: UseRedis; disconnect(): void }> {
  if (redisUrl === undefined) return { useRedis: async () => undefined, disconnect: () => undefined }
  const redis = new Redis(redisUrl, {
    lazyConnect: true,
    // Without a connection, commands fail at once.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: connectTimeoutMs,
    // Replaces a connection that stopped responding.
    socketTimeout: silenceTimeoutMs,
  })
  redis.on('error', (error) => {
    // Other errors are reported when a command fails.
    if (isRefusedByRedis(error)) report(error)
  })
  const timeout = responseTimeouts()
  let isDown = false
  let warnedAt = Number.NEGATIVE_INFINITY
  const report = (error: unknown) => {
    isDown = true
    if (performance.now() - warnedAt < warnEveryMs) return
    warnedAt = performance.now()
    const isRefused = isRefusedByRedis(error)
    const [detail, what] = isRefused
      ? [{ reason: error.message }, refusedByRedis]
      : [{ err: error }, 'Redis is unavailable']
    log.warn(detail, `${what}: each process counts requests and remembers writes for itself`)
  }

  const useRedis: UseRedis = async (run) => {
    if (timeout.isExceeded()) return undefined
    try {
      const result = await timeout.limit(run(redis))
      if (isDown) log.info('Redis is available again')
      isDown = false
      return result
    } catch (error) {
      report(error)
      return undefined
    }
  }
  // The API also starts without Redis; the client keeps reconnecting.
  await redis.connect().catch(() => undefined)
  return { useRedis, disconnect: () => redis.disconnect() }
}

/** Limits the time of commands. A command that ends late shows that others need not be skipped any more. */
function responseTimeouts() {
  let isExceeded = false
  return {
    isExceeded: () => isExceeded,
    limit<Result>(command: Promise<Result>): Promise<Result> {
      const { promise, resolve, reject } = Promise.withResolvers<Result>()
      const giveUp = () => {
        isExceeded = true
        reject(new Error(`No response within ${responseTimeoutMs} ms`))
      }
      let overdue: NodeJS.Immediate | undefined
      // If this process itself was busy until the timeout, the response may already be here: read it first.
      const timer = setTimeout(() => {
        overdue = setImmediate(giveUp)
      }, responseTimeoutMs)
      const ended = () => {
        clearTimeout(timer)
        clearImmediate(overdue)
        isExceeded = false
      }
      command.finally(ended).then(resolve, reject)
      return promise
    },
  }
}
