// Serves an API: connection and request limits, operator endpoints (health, metrics), and shutdown.

import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { type StaticDecode, Type } from 'typebox'
import { integer, isOrigin, listOf, matching, port, text, url } from '../config/kinds.ts'
import { limitOperators, limitRequests, limitVariables } from '../limits/limits.ts'
import { countRequests } from '../limits/requestCounts.ts'
import type { Health } from '../process/health.ts'
import type { Lifecycle } from '../process/lifecycle.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { methodsOf } from './apiPaths.ts'
import { browserHeaders } from './browserHeaders.ts'
import { acceptConsoleCookie, cookieName } from './consoleCookie.ts'
import { requestsInFlight } from './handlers.ts'
import { createHttp } from './http.ts'
import { isProxyRange } from './networks.ts'
import { readYourWrites } from './readYourWrites.ts'
import { connectRedis } from './sharedRedis.ts'

export const apiVariables = {
  HOST: text('127.0.0.1'),
  PORT: port(8080),
  /** Proxies whose `X-Forwarded-For` is trusted. */
  TRUST_PROXY: listOf(
    isProxyRange,
    'addresses or ranges such as 10.0.0.0/8,::1, none wider than those of private networks',
    [],
  ),
  /** The cookie of the identity backend that holds a session, for the console. */
  CONSOLE_SESSION_COOKIE: Type.Optional(matching(cookieName, 'the name of a cookie')),
  CORS_ORIGINS: listOf(isOrigin, 'origins such as https://shop.example.com', []),
  MAX_CONNECTIONS: integer(1, 1_000_000, 1_000),
  /** Per client address; 0 means no limit. The proxies of TRUST_PROXY have none. */
  MAX_CONNECTIONS_PER_ADDRESS: integer(0, 1_000_000, 500),
  /** Counts requests and remembers writes across all processes. */
  REDIS_URL: Type.Optional(url(['redis', 'rediss'])),
  ...limitVariables,
}
const ApiConfig = Type.Object(apiVariables)
export type ApiConfig = Readonly<StaticDecode<typeof ApiConfig>>

/**
 * Serves an API until the app stops; accepted requests are finished first.
 * @param parts `describe` is called before any route is registered
 * @param api the routes to which the request limits apply and whose callers read their own writes; operator endpoints
 * have their own limit
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
  limitOperators(http, config, countRequests())
  await parts.describe?.(http)
  await http.register(metrics.plugin)
  await http.register(health.plugin)
  const { useRedis, disconnect } = await connectRedis(config.REDIS_URL, log)
  lifecycle.add('redis', disconnect)
  if (config.CONSOLE_SESSION_COOKIE !== undefined) acceptConsoleCookie(http, config.CONSOLE_SESSION_COOKIE)
  await http.register(async (scope) => {
    // First, so that its command and that of the limits are sent together.
    readYourWrites(scope, useRedis)
    await limitRequests(scope, config, countRequests({ useRedis, secret: redisPassword(config) }))
    await scope.register(api)
  })
  lifecycle.add(
    'http',
    () => http.close(),
    () => requestsInFlight(http),
  )
  return await http.listen({ host: config.HOST, port: config.PORT })
}

/** A secret that all APIs of an installation have, and that is not in Redis itself. Empty without one. */
const redisPassword = ({ REDIS_URL }: ApiConfig) => (REDIS_URL === undefined ? '' : new URL(REDIS_URL).password)
