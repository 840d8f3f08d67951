// Dependencies of the routes, and the event metadata of a request.
import { actorName, type Session } from '@paylog/domain/actor'
import { DomainError } from '@paylog/domain/errors'
import type { EventMetadata } from '@paylog/domain/events'
import type { FastifyRequest } from 'fastify'
import type { Workflow } from '../context.ts'
import type { RepeatableRequest } from './idempotentRequests.ts'
import { type AnonymousClient, requestIdentity } from './requestIdentity.ts'

export type CommandDependencies = { readonly workflow: Workflow }

/** @returns the metadata of the events that a request records */
export function metadataOf({ actor, id: requestId }: FastifyRequest): EventMetadata {
  return { correlationId: requestId, causationId: requestId, actor: actorName(actor), requestId }
}

/** Without a key the id is random, and the audit trail and the route need the same one. */
const identities = new WeakMap<FastifyRequest, RepeatableRequest>()

/**
 * The identity and metadata of a request that creates something.
 * @param client required for routes that allow callers without a credential
 * @throws the errors of `requestIdentity`
 */
export function repeatableRequest(
  { store }: Pick<Workflow, 'store'>,
  request: FastifyRequest,
  route: string,
  client?: AnonymousClient,
): RepeatableRequest {
  const earlier = identities.get(request)
  if (earlier !== undefined) return earlier
  const { headers, actor, body } = request
  const { id, fingerprint } = requestIdentity(store.hash, headers['idempotency-key'], actor, route, body, client)
  const identity = { request_id: id, request_fingerprint: fingerprint, metadata: metadataOf(request) }
  identities.set(request, identity)
  return identity
}

/** @throws DomainError `forbidden` for a caller without a session */
export function sessionOf({ actor }: FastifyRequest): Session {
  if (actor.kind === 'session') return actor
  throw new DomainError('forbidden', 'A session is required')
}
