// Dependencies of the routes, and the event metadata of a request.
import { actorName, type Session } from '@paylog/domain/actor'
import { DomainError } from '@paylog/domain/errors'
import type { EventMetadata } from '@paylog/domain/events'
import type { Callers } from '@paylog/runtime/http/callers'
import type { FastifyRequest } from 'fastify'
import type { Workflow } from '../context.ts'
import { type AnonymousClient, requestIdentity } from './idempotency.ts'
import type { RepeatableRequest } from './idempotentRequests.ts'

export type CommandDependencies = { readonly workflow: Workflow; readonly callers: Callers }

/** @returns the metadata of the events that a request records */
export function metadataOf({ actor, id: requestId }: FastifyRequest): EventMetadata {
  return { correlationId: requestId, causationId: requestId, actor: actorName(actor), requestId }
}

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
  const { headers, actor, body } = request
  const { id, fingerprint } = requestIdentity(store.hash, headers['idempotency-key'], actor, route, body, client)
  return { request_id: id, request_fingerprint: fingerprint, metadata: metadataOf(request) }
}

/** @throws DomainError `forbidden` for a caller without a session */
export function sessionOf({ actor }: FastifyRequest): Session {
  if (actor.kind === 'session') return actor
  throw new DomainError('forbidden', 'A session is required')
}
