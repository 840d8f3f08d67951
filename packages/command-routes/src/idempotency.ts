// Idempotency-Key: the same caller, route and key always mean the same resource.
import { createHash } from 'node:crypto'
import { type Actor, actorName, foldEmail, guestOwner } from '@paylog/domain/actor'
import { DomainError } from '@paylog/domain/errors'
import { clientNetwork, oneSite } from '@paylog/runtime/http/networks'
import { Type } from 'typebox'
import { v5 as uuidv5, v7 as uuidv7 } from 'uuid'

/** Names the ids that are derived from keys; a changed value would make every repeated request a new one. */
const namespace = '6f1d0c0e-6a53-5f0e-9a35-2c1b7c0a4d11'
const maxKeyLength = 255

/** The headers of a request that creates something. */
export const IdempotencyHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      description: `1 to ${maxKeyLength} printable characters. Repeated with the same key, the same request is carried out once.`,
    }),
  ),
})

export type RequestIdentity = {
  /** The id of what the request creates. */
  readonly id: string
  /** SHA-256 of the body, to tell a repeated request from another one under the same key; null without a key. */
  readonly fingerprint: string | null
}

/** What the keys of callers without a credential are told apart by. */
export type AnonymousClient = { readonly ip: string; readonly guest_email: string | undefined }

/**
 * The id that a request creates its resource under: derived from the key when there is one, else new.
 * @param client of routes that take callers without a credential
 * @throws DomainError `invalid_request` for a key that is empty, too long or not printable ASCII
 */
export function requestIdentity(
  key: string | string[] | undefined,
  actor: Actor,
  route: string,
  body: unknown,
  client?: AnonymousClient,
): RequestIdentity {
  if (key === undefined) return { id: uuidv7(), fingerprint: null }
  if (typeof key !== 'string' || key.length > maxKeyLength || !/^[\x20-\x7e]+$/.test(key))
    throw new DomainError('invalid_request', `Idempotency-Key must be 1 to ${maxKeyLength} printable characters`)
  const id = uuidv5(JSON.stringify([callerScope(actor, client), route, key]), namespace)
  return {
    id,
    fingerprint: createHash('sha256')
      .update(JSON.stringify(sorted(body)))
      .digest('hex'),
  }
}

/** A stranger who guesses a key has another scope, and so neither blocks nor reads what it opened. */
function callerScope(actor: Actor, client: AnonymousClient | undefined): string {
  if (actor.kind === 'guest') return guestOwner(actor.guest_email)
  if (actor.kind === 'session') return actorName(actor)
  if (client === undefined) throw new Error('A key without a credential needs a client')
  return `anonymous ${clientNetwork(client.ip, oneSite)} ${foldEmail(client.guest_email ?? '')}`
}

/** The same value with the keys of its objects in order, since the order in JSON means nothing. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, entry]) => [key, sorted(entry)]),
  )
}
