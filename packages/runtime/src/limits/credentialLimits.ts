// Keys for rate limits per credential, and the limit of invalid credentials per client address.
import { hash } from 'node:crypto'
import { DomainError } from '@paylog/domain/errors'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { presentedCredentials } from '../http/credentials.ts'
import { clientNetwork } from '../http/networks.ts'
import { recentKeys } from '../process/recentKeys.ts'
import { type CountRequests, setLimitHeaders, throwRateLimited } from './requestCounts.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** See `keysOfRequest`. */
    credentialKeys: readonly string[] | undefined
  }
}

/**
 * One key per credential, independent of where it is sent: a caller that adds another made-up credential to every request
 * still shares a key with itself.
 * @returns distinct hashes of all credentials of a request, valid or not; none for an anonymous request
 */
export function credentialKeys(request: Pick<FastifyRequest, 'headers' | 'query'>): readonly string[] {
  const keys = presentedCredentials(request).map(({ value }) => hash('sha256', String(value), 'base64url'))
  return [...new Set(keys)]
}

/** `credentialKeys`, computed once for each request, because several hooks need them. */
export function keysOfRequest(request: FastifyRequest): readonly string[] {
  request.credentialKeys ??= credentialKeys(request)
  return request.credentialKeys
}

/** @returns one key for all credentials of a request together; undefined for an anonymous request */
export function credentialKey(request: Parameters<typeof credentialKeys>[0]): string | undefined {
  const keys = credentialKeys(request)
  return keys.length === 0 ? undefined : keys.join()
}

/** How long credentials that were valid are validated without being counted. */
const knownForMs = 15 * 60_000
/** Validations per client address and process beyond the limit: this many at once, then one a second. */
const maxTokens = 10
const msPerToken = 1_000

type CredentialCheck = {
  readonly address: string
  /** Key of all credentials of the request together. */
  readonly credentials: string
  /** How many credentials were counted before their validation. */
  readonly counted: number
  readonly count: number
  readonly restMs: number
}

/**
 * Protects the identity backend from guessing: at most `max` invalid credentials per client address and minute. A
 * credential counts before its validation, or a thousand concurrent guesses would all be validated; a valid one is
 * subtracted again. Beyond the limit:
 * - credentials that were valid within 15 minutes are still validated, so that a guesser does not lock out sessions behind
 *   a shared address;
 * - of all others, ten are validated, then one a second. A valid one is accepted, an invalid one gets 429;
 * - the rest gets 429 without validation.
 *
 * The backend validates every request that is accepted; remembered credentials only skip the count.
 * @param options `max`: 0 means no limit; `count` counts invalid credentials
 */
export function limitUnauthenticated(
  scope: FastifyInstance,
  { max, count }: { readonly max: number; readonly count: CountRequests },
): void {
  if (max === 0) return
  const validUntil = recentKeys<number>()
  const takeToken = tokenBuckets()
  const checks = new WeakMap<FastifyRequest, CredentialCheck>()

  scope.addHook('onRequest', async (request, reply) => {
    const keys = keysOfRequest(request)
    if (request.routeOptions.config.callers === 'providers' || keys.length === 0) return
    const address = clientNetwork(request.ip)
    const credentials = keys.join()
    const counted = (validUntil.get(credentials) ?? 0) > now() ? 0 : keys.length
    const [found = { count: 0, restMs: 0 }] = counted > 0 ? await count([keyOf(address)], counted) : []
    checks.set(request, { address, credentials, counted, ...found })
    if (found.count <= max || takeToken(address)) return
    setLimitHeaders(reply, max, found)
    throwRateLimited(reply, msPerToken)
  })

  const settle = async (request: FastifyRequest, check: CredentialCheck) => {
    checks.delete(request)
    const { address, credentials, counted } = check
    const { actor, invalidCredentials } = request
    const isValid = actor !== undefined && actor.kind !== 'anonymous'
    // Even if the request also has invalid credentials: a client may send an old one with every request.
    if (isValid) validUntil.set(credentials, now() + knownForMs)
    else if (invalidCredentials > 0) validUntil.delete(credentials)
    // A combination that is known to be valid does not count.
    const invalid = isValid && counted === 0 ? 0 : invalidCredentials
    if (invalid !== counted) await count([keyOf(address)], invalid - counted)
  }
  // As soon as the caller is known, because the handler may take long; for rejected requests, before the response.
  const settleOnce = (request: FastifyRequest, done: (error?: Error) => void) => {
    const check = checks.get(request)
    if (check === undefined) done()
    else settle(request, check).then(() => done(), done)
  }
  scope.addHook('preParsing', (request, _reply, _body, done) => settleOnce(request, done))
  scope.addHook('onSend', (request, _reply, _body, done) => settleOnce(request, done))

  scope.setErrorHandler((error, request, reply) => {
    const check = checks.get(request)
    const isUnauthenticated = error instanceof DomainError && error.code === 'unauthenticated'
    if (check === undefined || !isUnauthenticated || check.count <= max) throw error
    setLimitHeaders(reply, max, check)
    throwRateLimited(reply, check.restMs)
  })
}

/** In ms. */
const now = () => performance.now()

const keyOf = (address: string) => `unauthenticated:${address}`

/** @returns a function that takes a token of an address, and returns whether there was one */
function tokenBuckets(): (address: string) => boolean {
  // The time when each bucket will be full again.
  const fullAt = recentKeys<number>()
  return (address) => {
    const at = Math.max(fullAt.get(address) ?? 0, now()) + msPerToken
    if (at - now() > maxTokens * msPerToken) return false
    fullAt.set(address, at)
    return true
  }
}
