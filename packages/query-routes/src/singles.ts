// What all single resources have in common: how they are asked for, and how they answer.
import type { Actor } from '@paylog/domain/actor'
import { DomainError } from '@paylog/domain/errors'
import { recordedId } from '@paylog/domain/fields'
import { ownerOf } from '@paylog/domain/owner'
import type { Found, ResourceQuery } from '@paylog/projections/queries/page'
import { knownActor } from '@paylog/runtime/http/callers'
import { dataResponse, etagHeader } from '@paylog/runtime/http/openApiParts'
import type { FastifyReply } from 'fastify'
import { type TSchema, Type } from 'typebox'
import { staleHeader } from './readAfter.ts'

export const ItemParams = Type.Object({ id: Type.String({ description: 'The id of the resource' }) })
export const ItemQuery = Type.Object({ token: Type.Optional(Type.String({ description: 'Guest token' })) })

export const itemResponse = <Resource extends TSchema>(resource: Resource, example: object) =>
  dataResponse(resource, {
    description: 'What was asked for',
    headers: { ...etagHeader, ...staleHeader },
    examples: [{ success: true, data: example }],
  })

/**
 * Answers with what the caller asks for, and its revision as `ETag`.
 * @param what in words, for the refusal
 * @throws DomainError `not_found`, in the same words for what is no id, what is missing, and what is someone else's
 */
export async function replyWithItem<Item>(
  { actor, params: { id } }: { readonly actor: Actor; readonly params: { readonly id: string } },
  reply: Pick<FastifyReply, 'header'>,
  what: string,
  get: (question: ResourceQuery) => Promise<Found<Item> | undefined>,
) {
  const owner = ownerOf(knownActor(actor))
  const recorded = recordedId(id)
  const found = recorded === null ? undefined : await get({ id: recorded, owner })
  if (found === undefined) throw new DomainError('not_found', `No ${what} with this id`)
  reply.header('etag', `"${found.revision}"`)
  return { success: true as const, data: found.item }
}
