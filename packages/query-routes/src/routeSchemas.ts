// Dependencies and schemas that the routes of all resources share.

import { type Actor, guestOwner, ownerOf } from '@paylog/domain/actor'
import { DomainError, type ErrorCode } from '@paylog/domain/errors'
import { Nullable, recordedId } from '@paylog/domain/fields'
import type { Found, ListPage, ResourceQuery } from '@paylog/projections/queries/listPage'
import type { Queryable } from '@paylog/projections/queries/namedQuery'
import { type Callers, type KnownActor, knownActor } from '@paylog/runtime/http/callers'
import { callerSecurity, dataResponse, errorResponses, etagHeader } from '@paylog/runtime/http/openApiSchemas'
import type { FastifyReply, onRequestAsyncHookHandler } from 'fastify'
import { type Static, type TProperties, type TSchema, Type } from 'typebox'
import { type ReadAfter, ReadAfterHeaders, staleHeader } from './readAfter.ts'

export type QueryDependencies = {
  readonly db: Queryable
  readonly sessionOrGuest: Callers['sessionOrGuest']
  readonly session: Callers['session']
  readonly administrator: Callers['administrator']
  readonly readAfter: ReadAfter
}

/**
 * The part of a route's schema that all reads share.
 * @param codes additional errors of this route
 */
export const readSchema = (tag: string, operationId: string, summary: string, ...codes: readonly ErrorCode[]) => ({
  // A stale read may miss the resource, and the database may be down.
  ...errorResponses(codes, { 404: staleHeader, 503: staleHeader }),
  tags: [tag],
  operationId,
  summary,
  description: 'Requires a session or a guest token. Returns only the caller’s own resources.',
  headers: ReadAfterHeaders,
  security: callerSecurity,
})

/** The caller that a list is for, as part of the list's response (interface, section 4.2). */
export const UserContext = Type.Object(
  {
    authenticated: Type.Boolean(),
    user_id: Nullable(Type.String()),
    user_type: Type.String(),
    user_email: Nullable(Type.String()),
    search_method: Type.Enum(['user_id', 'guest_email']),
  },
  { title: 'UserContext' },
)
export type UserContext = Static<typeof UserContext>

function userContext(actor: KnownActor): UserContext {
  if (actor.kind === 'guest') {
    return {
      authenticated: false,
      user_id: null,
      user_type: 'guest',
      user_email: actor.guest_email,
      search_method: 'guest_email',
    }
  }
  const { user_id, user_type, user_email } = actor
  return { authenticated: true, user_id, user_type, user_email, search_method: 'user_id' }
}

/** An `onRequest` hook after `sessionOrGuest`: a guest that names another guest's e-mail gets 403, not an empty list. */
export const ownEmailOnly: onRequestAsyncHookHandler = async ({ actor, query }) => {
  if (actor.kind !== 'guest' || typeof query !== 'object' || query === null || !('guest_email' in query)) return
  const { guest_email } = query
  // A repeated parameter is an array; validation rejects it.
  if (typeof guest_email === 'string' && guestOwner(guest_email) !== ownerOf(actor))
    throw new DomainError('forbidden', 'A guest token gives access to its own e-mail only')
}

/** The largest page number whose offset fits into 64 bits. */
export const maxPage = 2_147_483_647

/** Which page of a list. */
export const pageParameters = {
  page: Type.Integer({ minimum: 1, maximum: maxPage, default: 1, description: 'Page number, from 1' }),
  limit: Type.Integer({ minimum: 1, maximum: 50, default: 20, description: 'Items per page' }),
}

/** The parameters of every list of a caller's own resources. */
export const listParameters = {
  ...pageParameters,
  guest_email: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'Only resources with this e-mail; guests may name only their own',
    }),
  ),
  token: Type.Optional(Type.String({ description: 'Guest token' })),
}

/** @param where the searched fields, in words */
export const searchParameter = (where: string) =>
  Type.Optional(
    Type.String({
      maxLength: 255,
      // Control characters never match, and U+001F separates the searched texts.
      pattern: '^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f]*$',
      description: `Text contained in ${where}, case-insensitive`,
    }),
  )

/** Of a filter that requires, or excludes, something. */
export const Flag = Type.Enum(['true', 'false'])

/** A filter by a whole value. @param what in words */
export const exactParameter = (what: string) =>
  Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      // Postgres rejects NUL, and no value has control characters that a search could not have.
      pattern: '^[^\\u0000]*$',
      description: `Only ${what}`,
    }),
  )

/** As `readSchema`, for a route of administrators. */
export const administratorSchema = (...args: Parameters<typeof readSchema>) => ({
  ...readSchema(...args),
  description: 'For administrators.',
  security: [{ session: [] }],
})

export const OrderDir = Type.Enum(['asc', 'desc'])

/** The `meta` of every list with pages. */
export const pageMeta = {
  page: Type.Integer(),
  limit: Type.Integer(),
  total: Type.Integer(),
  hasMore: Type.Boolean(),
}

/** @param meta additional fields of one list's `meta`, also in the example */
export const listResponse = <Item extends TSchema, Meta extends TProperties>(
  item: Item,
  meta: Meta,
  example: { readonly item: object; readonly meta?: object },
) =>
  Type.Object(
    {
      success: Type.Literal(true),
      data: Type.Array(item),
      meta: Type.Object({ ...pageMeta, ...meta }),
      user_context: UserContext,
    },
    {
      description: 'A page of the caller’s resources',
      headers: staleHeader,
      examples: [
        {
          success: true,
          data: [example.item],
          meta: { page: 1, limit: 20, total: 1, hasMore: false, ...example.meta },
          user_context: exampleContext,
        },
      ],
    },
  )

const exampleContext: UserContext = {
  authenticated: true,
  user_id: '00000000-0000-4000-8000-000000000001',
  user_type: 'user',
  user_email: 'ada@example.com',
  search_method: 'user_id',
}

/** The response with a page of a list. */
export function toListResponse<Item, Meta extends object>(
  caller: KnownActor,
  page: { readonly page: number; readonly limit: number; readonly meta: Meta },
  found: ListPage<Item>,
) {
  return { ...toPageResponse(page, found), user_context: userContext(caller) }
}

/** As `toListResponse`, for a list that is not the caller's own. */
export function toPageResponse<Item, Meta extends object>(
  { page, limit, meta }: { readonly page: number; readonly limit: number; readonly meta: Meta },
  { items, total }: ListPage<Item>,
) {
  return {
    success: true as const,
    data: [...items],
    meta: { page, limit, total, hasMore: page * limit < total, ...meta },
  }
}

export const ItemParams = Type.Object({ id: Type.String({ description: 'The id of the resource' }) })
export const ItemQuery = Type.Object({ token: Type.Optional(Type.String({ description: 'Guest token' })) })

export const itemResponse = <Resource extends TSchema>(resource: Resource, example: object) =>
  dataResponse(resource, {
    description: 'The requested resource',
    headers: { ...etagHeader, ...staleHeader },
    examples: [{ success: true, data: example }],
  })

/**
 * Responds with a resource of the caller, and its revision as `ETag`.
 * @param what the resource in words, for the error message
 * @throws DomainError `not_found`, with the same message for an invalid id, a missing resource and another owner's
 */
export async function replyWithItem<Item>(
  { actor, params: { id } }: { readonly actor: Actor; readonly params: { readonly id: string } },
  reply: Pick<FastifyReply, 'header'>,
  what: string,
  get: (query: ResourceQuery) => Promise<Found<Item> | undefined>,
) {
  const owner = ownerOf(knownActor(actor))
  const recorded = recordedId(id)
  const found = recorded === null ? undefined : await get({ id: recorded, owner })
  if (found === undefined) throw new DomainError('not_found', `No ${what} with this id`)
  reply.header('etag', `"${found.revision}"`)
  return { success: true as const, data: found.item }
}
