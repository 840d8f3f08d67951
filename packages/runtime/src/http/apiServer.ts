// A process that serves an API: its limits, its pages for operators, and how it stops.
import { integer, isOrigin, listOf, port, text, url } from '@paylog/config/kinds'
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { Redis } from 'ioredis'
import { type StaticDecode, Type } from 'typebox'
import { limitOperators, limitRequests, limitVariables } from '../limits/limits.ts'
import { countRequests } from '../limits/requestCounts.ts'
import type { Health } from '../process/health.ts'
import type { Lifecycle } from '../process/lifecycle.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { methodsOf } from './apiPaths.ts'
import { browserHeaders } from './browserHeaders.ts'
import { requestsInFlight } from './draining.ts'
import { createHttp } from './http.ts'
import { isProxyRange } from './networks.ts'

export const apiVariables = {
  HOST: text('127.0.0.1'),
  PORT: port(8080),
  /** Whose `X-Forwarded-For` is believed. */
  TRUST_PROXY: listOf(
    isProxyRange,
    'addresses or ranges such as 10.0.0.0/8,::1, none wider than those of private networks',
    [],
  ),
  CORS_ORIGINS: listOf(isOrigin, 'origins such as https://shop.example.com', []),
  MAX_CONNECTIONS: integer(1, 1_000_000, 1_000),
  /** Of one client address; 0 is no limit. The proxies of TRUST_PROXY have none. */
  MAX_CONNECTIONS_PER_ADDRESS: integer(0, 1_000_000, 500),
  /** Where requests are counted for all processes together. */
  REDIS_URL: Type.Optional(url(['redis', 'rediss'])),
  ...limitVariables,
}
const ApiConfig = Type.Object(apiVariables)
export type ApiConfig = Readonly<StaticDecode<typeof ApiConfig>>

/** Counting must not keep a request waiting. */
const countTimeoutMs = 250
const connectTimeoutMs = 1_000
const silenceTimeoutMs = 5_000

/**
 * Serves an API until the app stops; then requests that were accepted are finished first.
 * @param parts `describe` is called before any route is there
 * @param api the routes, which the limits guard; the pages for operators are beside them
 * @returns the URL
 */
export async function serveApi(
  config: ApiConfig,
  parts: {
    readonly log: Logger
    readonly lifecycle: Lifecycle
    readonly health: Health
    readonly metrics: Metrics
    readonly describe?: (http: FastifyInstance) => Promise<void>
  },
  api: FastifyPluginAsync,
): Promise<string> {
  const { log, lifecycle, health, metrics } = parts
  const http = createHttp({
    log,
    trustProxy: config.TRUST_PROXY,
    maxConnections: config.MAX_CONNECTIONS,
    maxConnectionsPerAddress: config.MAX_CONNECTIONS_PER_ADDRESS,
    methodsOf,
  })
  await browserHeaders(http, { origins: config.CORS_ORIGINS })
  limitOperators(http, config, countRequests(log))
  await parts.describe?.(http)
  await http.register(metrics.plugin)
  await http.register(health.plugin)
  const redis = config.REDIS_URL === undefined ? undefined : await connectCounter(config.REDIS_URL)
  lifecycle.add('request counts', () => redis?.disconnect())
  await http.register(async (scope) => {
    await limitRequests(scope, config, countRequests(log, { redis }))
    await scope.register(api)
  })
  lifecycle.add(
    'http',
    () => http.close(),
    () => requestsInFlight(http),
  )
  return await http.listen({ host: config.HOST, port: config.PORT })
}

/** A Redis that answers soon or not at all; what it does not do is told by who counts with it. */
async function connectCounter(redisUrl: string): Promise<Redis> {
  const redis = new Redis(redisUrl, {
    lazyConnect: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: connectTimeoutMs,
    commandTimeout: countTimeoutMs,
    // A connection that was cut off without a word is given up, and another one made.
    socketTimeout: silenceTimeoutMs,
  })
  redis.on('error', () => undefined)
  // Whether it is there or not, the API starts; it goes on trying by itself.
  await redis.connect().catch(() => undefined)
  return redis
}
