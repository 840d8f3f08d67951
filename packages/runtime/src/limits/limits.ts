// Rate limits per caller, and load shedding.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { DomainError } from '@paylog/domain/errors'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { type StaticDecode, Type } from 'typebox'
import { durationMs, integer } from '../config/kinds.ts'
import { clientNetwork } from '../http/networks.ts'
import { keysOfRequest, limitUnauthenticated } from './credentialLimits.ts'
import { type CountRequests, type RequestCount, setLimitHeaders, throwRateLimited } from './requestCounts.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** An additional limit per credential, shared by all routes that name it. */
    limit?: 'webhookTests'
    /** An operator endpoint (readiness, metrics), which needs no credential. */
    isForOperators?: boolean
  }
}

const maxPerMinute = 1_000_000

export const limitVariables = {
  /** Requests per credential; 0 means no limit, here and below. */
  RATE_LIMIT_PER_MINUTE: integer(0, maxPerMinute, 600),
  /** Payments started without a credential, per client address. */
  RATE_LIMIT_ANONYMOUS_PER_MINUTE: integer(0, maxPerMinute, 60),
  /** Invalid credentials per client address; beyond it, only few unknown ones are validated. */
  RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE: integer(0, maxPerMinute, 60),
  /** Webhook tests and simulations per credential. */
  RATE_LIMIT_WEBHOOK_TESTS_PER_MINUTE: integer(0, maxPerMinute, 10),
  /** Average event loop delay over a second beyond which requests are rejected. */
  SHED_EVENT_LOOP_DELAY: durationMs('1s'),
}
const LimitConfig = Type.Object(limitVariables)
export type LimitConfig = Readonly<StaticDecode<typeof LimitConfig>>

/**
 * Rejects requests beyond the limits, before a credential is validated or the body is read: with 429 `rate_limited`, the
 * headers `RateLimit-Limit`, `-Remaining`, `-Reset` (seconds) and `Retry-After`; with 503 `service_unavailable` and
 * `Retry-After` while the process is overloaded. Accepted requests have the three `RateLimit` headers, too.
 * @param scope the limits apply to routes that are registered in it afterwards
 */
export async function limitRequests(scope: FastifyInstance, config: LimitConfig, count: CountRequests): Promise<void> {
  if (config.SHED_EVENT_LOOP_DELAY > 0) shedLoad(scope, config.SHED_EVENT_LOOP_DELAY)
  const maxPerCredential = config.RATE_LIMIT_PER_MINUTE
  const maxAnonymous = config.RATE_LIMIT_ANONYMOUS_PER_MINUTE
  // First, so that rejected guesses create no counters for made-up credentials.
  limitUnauthenticated(scope, { max: config.RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE, count })

  scope.addHook('onRequest', async (request, reply) => {
    const { config: route } = request.routeOptions
    if (route.callers === 'providers') return
    const credentials = keysOfRequest(request)
    const isAnonymous = credentials.length === 0
    if (!isAnonymous && maxPerCredential > 0) {
      const keys = credentials.map((credential) => `credential:${credential}`)
      throwIfExceeded(reply, await count(keys, 1), maxPerCredential)
    }
    const maxTests = config.RATE_LIMIT_WEBHOOK_TESTS_PER_MINUTE
    if (!isAnonymous && route.limit === 'webhookTests' && maxTests > 0) {
      const keys = credentials.map((credential) => `webhook-tests:${credential}`)
      throwIfExceeded(reply, await count(keys, 1), maxTests)
    }
    if (isAnonymous && route.callers === 'anyone' && maxAnonymous > 0) {
      throwIfExceeded(reply, await count([`anonymous:${clientNetwork(request.ip)}`], 1), maxAnonymous)
    }
  })
}

/** Per client address: ten a second are more than any orchestrator or metrics collector needs. */
const maxForOperators = 600

/**
 * Limits requests to operator endpoints per client address, unless RATE_LIMIT_PER_MINUTE is 0.
 * @param count of this process alone, because each process has its own operator endpoints
 */
export function limitOperators(http: FastifyInstance, config: LimitConfig, count: CountRequests): void {
  if (config.RATE_LIMIT_PER_MINUTE === 0) return
  const limit = async (ip: string, reply: FastifyReply) => {
    const [found = { count: 0, restMs: 0 }] = await count([`operators:${clientNetwork(ip)}`], 1)
    if (found.count > maxForOperators) throwRateLimited(reply, found.restMs)
  }
  http.addHook('onRequest', ({ routeOptions, ip }, reply, done) => {
    if (routeOptions.config.isForOperators) limit(ip, reply).then(() => done(), done)
    else done()
  })
}

/** The highest count decides. */
function throwIfExceeded(reply: FastifyReply, counts: readonly RequestCount[], max: number): void {
  const highest = counts.reduce((found, other) => (other.count > found.count ? other : found))
  setLimitHeaders(reply, max, highest)
  if (highest.count > max) throwRateLimited(reply, highest.restMs)
}

const delayWindowMs = 1_000

/**
 * Rejects requests while the average event loop delay is too high. `@fastify/under-pressure` samples it 100 times a second,
 * which takes half a percent of a core in an idle process.
 */
function shedLoad(scope: FastifyInstance, maxDelayMs: number): void {
  const delays = monitorEventLoopDelay({ resolution: sampleMs })
  delays.enable()
  scope.addHook('onClose', async () => void delays.disable())
  let [windowStart, delayMs] = [performance.now(), 0]
  scope.addHook('onRequest', async () => {
    const now = performance.now()
    if (now - windowStart > delayWindowMs) {
      // A sample is the time between two runs of a timer. NaN without samples.
      delayMs = delays.mean / 1e6 - sampleMs
      delays.reset()
      windowStart = now
    }
    if (delayMs > maxDelayMs) throw new DomainError('service_unavailable', 'Too many concurrent requests; try again')
  })
}

const sampleMs = 100
