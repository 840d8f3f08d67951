// The lists of what belongs to the caller.
import { guestOwner, ownerOf } from '@paylog/domain/actor'
import { DomainError } from '@paylog/domain/errors'
import { Nullable } from '@paylog/domain/fields'
import { type KnownActor, knownActor } from '@paylog/runtime/http/callers'
import type { FastifyInstance, onRequestAsyncHookHandler } from 'fastify'
import { type Static, type TObject, type TProperties, Type } from 'typebox'
import { type QueryDependencies, tokenParameter } from '../routeSchemas.ts'
import {
  examplePageMeta,
  filterParameters,
  hasOrders,
  listResponse,
  offsetOf,
  orderMeta,
  orderParameters,
  type PageQuery,
  pageMeta,
  pageParameters,
  type Reading,
  toPageMeta,
} from './listRoutes.ts'
import { readPage } from './lists.ts'

/** The caller that a list is for, as part of the list's response (interface, section 4.2). */
const UserContext = Type.Object(
  {
    authenticated: Type.Boolean(),
    user_id: Nullable(Type.String()),
    user_type: Type.String(),
    user_email: Nullable(Type.String()),
    search_method: Type.Enum(['user_id', 'guest_email']),
  },
  { title: 'UserContext' },
)
type UserContext = Static<typeof UserContext>

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

const exampleContext: UserContext = {
  authenticated: true,
  user_id: '00000000-0000-4000-8000-000000000001',
  user_type: 'user',
  user_email: 'ada@example.com',
  search_method: 'user_id',
}

/** An `onRequest` hook after `sessionOrGuest`: a guest that names another guest's e-mail gets 403, not an empty list. */
const ownEmailOnly: onRequestAsyncHookHandler = async ({ actor, query }) => {
  if (actor.kind !== 'guest' || typeof query !== 'object' || query === null || !('guest_email' in query)) return
  const { guest_email } = query
  // A repeated parameter is an array; validation rejects it.
  if (typeof guest_email === 'string' && guestOwner(guest_email) !== ownerOf(actor))
    throw new DomainError('forbidden', 'A guest token gives access to its own e-mail only')
}

const ownParameters = {
  guest_email: Type.Optional(
    Type.String({
      ...{ minLength: 1, maxLength: 255 },
      description: 'Only resources with this e-mail; guests may name only their own',
    }),
  ),
  token: tokenParameter,
}

type OwnList<Item extends TObject> = Reading<Item> & {
  /** Parameters besides the page, the filters and the order. */
  readonly parameters?: TProperties
  /** Of the parameter `orderBy`. */
  readonly orderDescription?: string
  /** What a request reads instead, by its parameters. */
  readonly variant?: (query: PageQuery) => Pick<Reading<TObject>, 'list' | 'reads'> | undefined
}

/** The list of a caller's resources, in numbered pages. */
export function listOwn<Item extends TObject>(
  http: FastifyInstance,
  { db, readAfter }: QueryDependencies,
  own: OwnList<Item>,
): void {
  const { path, schema, list, parameters, orderDescription, variant, onRead } = own
  const chosen = (query: PageQuery) => variant?.(query) ?? own
  const order = hasOrders(list) ? orderParameters(list, orderDescription) : {}
  const querystring = Type.Object({
    ...pageParameters,
    ...ownParameters,
    ...filterParameters(list),
    ...order,
    ...parameters,
  })
  http.get<{ Querystring: PageQuery & { readonly guest_email?: string } }>(
    path,
    {
      config: { callers: 'sessionOrGuest' },
      onRequest: ownEmailOnly,
      preHandler: async (request, reply) => await readAfter(...chosen(request.query).reads)(request, reply),
      schema: { ...schema, querystring, response: { 200: ownListResponse(own) } },
    },
    async ({ actor, query }) => {
      const caller = knownActor(actor)
      const ofCaller = { ...query, owner: ownerOf(caller), ofGuest: query.guest_email, offset: offsetOf(query) }
      const { items, total } = await readPage(db, chosen(query).list, ofCaller)
      const [first] = items
      if (first) onRead?.(caller, first as Static<Item>)
      const { orderBy, orderDir } = query
      const meta = { ...toPageMeta(query, total), orderBy, orderDir }
      return { success: true, data: items, meta, user_context: userContext(caller) }
    },
  )
}

function ownListResponse({ list, example }: OwnList<TObject>) {
  const order = hasOrders(list) ? orderMeta(list) : {}
  const exampleOrder = hasOrders(list) ? { orderBy: 'created_at', orderDir: 'desc' } : {}
  return listResponse(list.item, {
    description: 'A page of the caller’s resources',
    meta: { ...pageMeta, ...order },
    others: { user_context: UserContext },
    example: { data: [example], meta: { ...examplePageMeta, ...exampleOrder }, user_context: exampleContext },
  })
}
