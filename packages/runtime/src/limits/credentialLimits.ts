// Tells callers apart by the credentials that they present, without keeping these.
import { createHash } from 'node:crypto'
import { DomainError } from '@paylog/domain/errors'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { clientNetwork } from '../http/networks.ts'
import { type CountRequests, recentKeys, setLimitHeaders, throwRateLimited } from './requestCounts.ts'

/**
 * One for each credential, not for all together: who adds another made-up one to every request is the same caller still.
 * Nor does it matter in which way a credential comes.
 * @returns hashes of all that a request presents, valid or not, each once; nothing for an anonymous request
 */
export function credentialKeys({ headers, query }: Pick<FastifyRequest, 'headers' | 'query'>): readonly string[] {
  const inQuery = query !== null && typeof query === 'object' ? query : {}
  const presented = [
    headers.authorization?.replace(/^\S+\s+/, ''),
    headers['x-session-id'],
    headers['x-guest-token'],
    'session_id' in inQuery ? inQuery.session_id : undefined,
    'token' in inQuery ? inQuery.token : undefined,
  ].filter((credential) => credential !== undefined)
  return [...new Set(presented.map(hash))]
}

/** @returns one for all credentials of a request together; nothing for an anonymous one */
export function credentialKey(request: Parameters<typeof credentialKeys>[0]): string | undefined {
  const keys = credentialKeys(request)
  return keys.length === 0 ? undefined : keys.join()
}

/** A parameter that comes twice is an array: no credential, but no anonymous caller either. */
function hash(credential: unknown): string {
  return createHash('sha256').update(String(credential)).digest('base64url')
}

// Keeps those who guess credentials away from the identity backend, and nobody else.

/** How long credentials that were valid are looked at without being counted. */
const knownForMs = 15 * 60_000
/** Of one client address beyond the limit, in one process: so many at once, and then one a second. */
const maxTokens = 10
const msPerToken = 1_000

type CredentialCheck = {
  readonly address: string
  /** Of all credentials of the request together. */
  readonly credentials: string
  /** How many were counted before they were looked at. */
  readonly counted: number
  readonly count: number
  readonly restMs: number
}

/**
 * At most `max` credentials of one client address in a minute may be not valid. A credential counts before it is looked
 * at, or a thousand guesses at once would all be looked at; a valid one is then taken off again. Beyond the limit:
 * - credentials that were valid within 15 minutes are looked at as ever, so that a guesser does not shut out the sessions
 *   behind a shared address;
 * - of all others ten are looked at, and one a second after them. A valid one gets through; one that is not is 429;
 * - the rest is 429 without a look.
 *
 * Every request that gets through has been validated by the backend: what is remembered replaces no look.
 * @param options `max` 0 is no limit; `count` counts what was not valid; `now` for tests: a clock in ms
 */
export function limitUnauthenticated(
  scope: FastifyInstance,
  {
    max,
    count,
    now = () => performance.now(),
  }: { readonly max: number; readonly count: CountRequests; readonly now?: () => number },
): void {
  if (max === 0) return
  const validUntil = recentKeys<number>()
  const takeToken = tokenBuckets(now)
  const checks = new WeakMap<FastifyRequest, CredentialCheck>()

  scope.addHook('onRequest', async (request, reply) => {
    const keys = credentialKeys(request)
    if (request.routeOptions.config.isForProviders || keys.length === 0) return
    const address = clientNetwork(request.ip)
    const credentials = keys.join()
    const counted = (validUntil.get(credentials) ?? 0) > now() ? 0 : keys.length
    const [found = { count: 0, restMs: 0 }] = counted > 0 ? await count([keyOf(address)], counted) : []
    checks.set(request, { address, credentials, counted, ...found })
    if (found.count <= max || takeToken(address)) return
    setLimitHeaders(reply, max, found)
    throwRateLimited(reply, msPerToken)
  })

  const settle = async (request: FastifyRequest) => {
    const look = checks.get(request)
    if (look === undefined) return
    checks.delete(request)
    const { address, credentials, counted } = look
    const { actor, refusedCredentials } = request
    const isValid = actor !== undefined && actor.kind !== 'anonymous'
    // Also beside ones that are not valid, which were counted this time: a client may send an old one with every request.
    if (isValid) validUntil.set(credentials, now() + knownForMs)
    else if (refusedCredentials > 0) validUntil.delete(credentials)
    // What is known to be valid together counts nothing while it is.
    const notValid = isValid && counted === 0 ? 0 : refusedCredentials
    if (notValid !== counted) await count([keyOf(address)], notValid - counted)
  }
  // As soon as the caller is known: the handler may take long. When there is none, before the answer is sent.
  scope.addHook('preParsing', settle)
  scope.addHook('onSend', settle)

  scope.setErrorHandler((error, request, reply) => {
    const look = checks.get(request)
    const isUnauthenticated = error instanceof DomainError && error.code === 'unauthenticated'
    if (look === undefined || !isUnauthenticated || look.count <= max) throw error
    setLimitHeaders(reply, max, look)
    throwRateLimited(reply, look.restMs)
  })
}

const keyOf = (address: string) => `unauthenticated:${address}`

/** @returns takes a token of an address, if there is one */
function tokenBuckets(now: () => number): (address: string) => boolean {
  // When each bucket will be full again.
  const fullAt = recentKeys<number>()
  return (address) => {
    const at = Math.max(fullAt.get(address) ?? 0, now()) + msPerToken
    if (at - now() > maxTokens * msPerToken) return false
    fullAt.set(address, at)
    return true
  }
}
