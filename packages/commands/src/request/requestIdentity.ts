// Idempotency-Key: the same caller, route and key always give the same resource id.
import { createHash, randomUUIDv7 } from 'node:crypto'
import { type Actor, actorName, foldEmail, guestOwner, type KeyedHash } from '@paylog/domain/actor'
import { derivedId } from '@paylog/domain/derivedId'
import { DomainError } from '@paylog/domain/errors'
import { clientNetwork, oneSite } from '@paylog/runtime/http/networks'
import { Type } from 'typebox'
import { v5 as uuidv5 } from 'uuid'

/** Must never change: the ids of all requests with a key derive from it. */
const namespace = '6f1d0c0e-6a53-5f0e-9a35-2c1b7c0a4d11'
const maxKeyLength = 255

/** The headers of a request that creates something. */
export const IdempotencyHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      description: `1 to ${maxKeyLength} printable characters. A request that is repeated with the same key is executed once.`,
    }),
  ),
})

export type RequestIdentity = {
  /** The id of the created resource. */
  readonly id: string
  /** SHA-256 of the body, to detect a different request with the same key; null without a key. */
  readonly fingerprint: string | null
}

/** Scopes the keys of callers without a credential. */
export type AnonymousClient = { readonly ip: string; readonly guest_email: string | undefined }

/**
 * The id of the resource that a request creates: derived from the key, or random without one.
 * @param hash for callers that are known by an e-mail or an address
 * @param client required for routes that allow callers without a credential
 * @throws DomainError `invalid_request` for a key that is empty, too long or not printable ASCII
 */
export function requestIdentity(
  hash: KeyedHash,
  key: string | string[] | undefined,
  actor: Actor,
  route: string,
  body: unknown,
  client?: AnonymousClient,
): RequestIdentity {
  if (key === undefined) return { id: randomUUIDv7(), fingerprint: null }
  if (actor.kind === 'operator') return operatorIdentity(String(key), route, body)
  if (typeof key !== 'string' || key.length > maxKeyLength || !/^[\x20-\x7e]+$/.test(key))
    throw new DomainError('invalid_request', `Idempotency-Key must be 1 to ${maxKeyLength} printable characters`)
  const id = uuidv5(JSON.stringify([callerScope(hash, actor, client), route, key]), namespace)
  return { id, fingerprint: sha256(JSON.stringify(body, withSortedKeys)) }
}

/**
 * The identity of `ops payments refund --key`, whose key is percent-encoded. As version 1.0.0 made it: a command that is repeated
 * after an update finds its refund.
 */
function operatorIdentity(key: string, route: string, body: unknown): RequestIdentity {
  const [, , payment_id = ''] = route.split('/')
  const { amount_cents, reason, note }: Readonly<Record<string, unknown>> = Object(body)
  return {
    id: derivedId('operator', 'refund', payment_id, decodeURIComponent(key)),
    fingerprint: sha256(JSON.stringify([amount_cents, reason, note])),
  }
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

/** Keys are scoped by caller, so that guessing another caller's key has no effect. */
function callerScope(hash: KeyedHash, actor: Actor, client: AnonymousClient | undefined): string {
  if (actor.kind === 'guest') return hash(guestOwner(actor.guest_email))
  if (actor.kind === 'session') return actorName(actor)
  if (client === undefined) throw new Error('an anonymous key needs a client')
  return hash(`anonymous ${clientNetwork(client.ip, oneSite)} ${foldEmail(client.guest_email ?? '')}`)
}

/** Sorts object keys, whose order has no meaning in JSON. */
function withSortedKeys(_key: string, value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}
