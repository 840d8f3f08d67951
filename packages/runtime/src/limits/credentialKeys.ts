// Tells callers apart by the credentials that they present, without keeping these.
import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'

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
