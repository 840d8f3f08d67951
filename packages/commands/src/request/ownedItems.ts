// What PUT and DELETE of addresses and payment methods share: an owner's item in the path, If-Match, and the responses.
import { type Actor, ownerOf } from '@paylog/domain/actor'
import type { ErrorCode } from '@paylog/domain/errors'
import type { Revision } from '@paylog/event-store/append/append'
import { knownActor } from '@paylog/runtime/http/callers'
import type { FastifyRequest } from 'fastify'
import { type TSchema, Type } from 'typebox'
import type { ItemTarget } from '../defaults.ts'
import { IfMatchHeaders, requireMatch } from './ifMatch.ts'
import { metadataOf } from './requestContext.ts'
import { writeErrors } from './responses.ts'

/**
 * OpenAPI description of a request to change or delete an item.
 * @param name of the resource
 * @param errors beside those of every such request
 */
export const oneItem = (name: string, errors: readonly ErrorCode[] = []) => ({
  ...writeErrors(['not_found', 'precondition_failed', ...errors]),
  params: Type.Object({ id: Type.String({ description: `The id of the ${name}` }) }),
  headers: IfMatchHeaders,
})

/** @param id from the path */
export function itemTarget(
  request: FastifyRequest,
  id: string,
  rejectCardNumbers: (request: FastifyRequest) => void,
): ItemTarget {
  return {
    id: id.toLowerCase(),
    owner: ownerOf(knownActor(request.actor)),
    checkRevision: (revision: Revision) => requireMatch(request.headers['if-match'], revision),
    checkBody: () => rejectCardNumbers(request),
    metadata: metadataOf(request),
  }
}

/** OpenAPI description of changes that an expired guest token can make. @param resource the response for all other callers */
export const orIdOnly = <Resource extends TSchema>(resource: Resource) =>
  Type.Union([
    resource,
    Type.Object({ id: Type.String() }, { description: 'For a guest whose token has expired: only the id' }),
  ])

/** The response data of a change. An expired guest token must not read the resource, so it gets only the id. */
export function changedData<Resource extends { readonly id: string }>(actor: Actor, resource: Resource) {
  return actor.kind === 'guest' && actor.is_remembered ? { id: resource.id } : resource
}
