// How much one caller may ask for, and how much all of them together.
import underPressure from '@fastify/under-pressure'
import { durationMs, integer } from '@paylog/config/kinds'
import { DomainError } from '@paylog/domain/errors'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { type StaticDecode, Type } from 'typebox'
import { clientNetwork } from '../http/networks.ts'
import { credentialKeys, limitUnauthenticated } from './credentialLimits.ts'
import { type CountRequests, type RequestCount, setLimitHeaders, throwRateLimited } from './requestCounts.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Takes requests of anybody: those without a credential count against their address. */
    isAnonymous?: boolean
    /** Takes what a provider reports, however much that is. */
    isForProviders?: boolean
    /** A limit for each credential besides the general one; all routes that name it count together. */
    limit?: 'webhookTests'
    /** Tells operators how the process is; open to anybody. */
    isForOperators?: boolean
  }
}

const maxPerMinute = 1_000_000

export const limitVariables = {
  /** Of one credential; 0 is no limit, here and in the following. */
  RATE_LIMIT_PER_MINUTE: integer(0, maxPerMinute, 600),
  /** Payments begun without a credential, of one client address. */
  RATE_LIMIT_ANONYMOUS_PER_MINUTE: integer(0, maxPerMinute, 60),
  /** Credentials of one client address that were not valid; then few that are not known to be valid are looked at. */
  RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE: integer(0, maxPerMinute, 60),
  /** Tests and simulations of webhooks, of one credential. */
  RATE_LIMIT_WEBHOOK_TESTS_PER_MINUTE: integer(0, maxPerMinute, 10),
  /** How long the event loop may be held up on average over a second; beyond it requests are refused. */
  SHED_EVENT_LOOP_DELAY: durationMs('1s'),
}
const LimitConfig = Type.Object(limitVariables)
export type LimitConfig = Readonly<StaticDecode<typeof LimitConfig>>

/**
 * Refuses what is too much, before a credential is looked at or a byte of the body is read: with 429 `rate_limited` and the
 * headers `RateLimit-Limit`, `-Remaining`, `-Reset` (seconds) and `Retry-After`; with 503 `service_unavailable` and
 * `Retry-After` while the process cannot keep up. What is let through has the three `RateLimit` headers as well.
 * @param scope the routes that are registered in it after this are guarded
 */
export async function limitRequests(scope: FastifyInstance, config: LimitConfig, count: CountRequests): Promise<void> {
  if (config.SHED_EVENT_LOOP_DELAY > 0) {
    await scope.register(underPressure, {
      maxEventLoopDelay: config.SHED_EVENT_LOOP_DELAY,
      pressureHandler: async () => {
        throw new DomainError('service_unavailable', 'Too many requests are under way here; try again')
      },
    })
  }
  const ofCredential = config.RATE_LIMIT_PER_MINUTE
  const ofAnonymous = config.RATE_LIMIT_ANONYMOUS_PER_MINUTE
  // First: who is shut out makes no counters by making credentials up.
  limitUnauthenticated(scope, { max: config.RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE, count })

  scope.addHook('onRequest', async (request, reply) => {
    const { config: route } = request.routeOptions
    if (route.isForProviders) return
    const credentials = credentialKeys(request)
    const isAnonymous = credentials.length === 0
    if (!isAnonymous && ofCredential > 0) {
      const keys = credentials.map((credential) => `credential:${credential}`)
      throwIfExceeded(reply, await count(keys, 1), ofCredential)
    }
    const ofTests = config.RATE_LIMIT_WEBHOOK_TESTS_PER_MINUTE
    if (!isAnonymous && route.limit === 'webhookTests' && ofTests > 0) {
      const keys = credentials.map((credential) => `webhook-tests:${credential}`)
      throwIfExceeded(reply, await count(keys, 1), ofTests)
    }
    if (isAnonymous && route.isAnonymous && ofAnonymous > 0) {
      throwIfExceeded(reply, await count([`anonymous:${clientNetwork(request.ip)}`], 1), ofAnonymous)
    }
  })
}

/** Of one client address: ten a second are more than any orchestrator and any collector of metrics needs. */
const maxForOperators = 600

/**
 * Bounds how often one address may ask for the pages for operators, unless requests of a credential have no limit either.
 * @param count in this process alone: each has its own pages
 */
export function limitOperators(http: FastifyInstance, config: LimitConfig, count: CountRequests): void {
  if (config.RATE_LIMIT_PER_MINUTE === 0) return
  http.addHook('onRequest', async ({ routeOptions, ip }, reply) => {
    if (!routeOptions.config.isForOperators) return
    const [found = { count: 0, restMs: 0 }] = await count([`operators:${clientNetwork(ip)}`], 1)
    if (found.count > maxForOperators) throwRateLimited(reply, found.restMs)
  })
}

/** Of several counts the highest one decides. */
function throwIfExceeded(reply: FastifyReply, counts: readonly RequestCount[], max: number): void {
  const highest = counts.reduce((found, other) => (other.count > found.count ? other : found))
  setLimitHeaders(reply, max, highest)
  if (highest.count > max) throwRateLimited(reply, highest.restMs)
}
