// The routes of lists and single resources, from the description of the list.
import { ownerOf } from '@paylog/domain/actor'
import { DomainError } from '@paylog/domain/errors'
import { mapFields, recordedId } from '@paylog/domain/fields'
import { type KnownActor, knownActor } from '@paylog/runtime/http/callers'
import { cursorParameter, NextCursor } from '@paylog/runtime/http/cursor'
import type { RouteAccess } from '@paylog/runtime/http/guardRoutes'
import type { FileRequest, ListFile } from '@paylog/runtime/http/listFiles'
import type { Queryable } from '@paylog/runtime/postgres/runQuery'
import type { FastifyInstance } from 'fastify'
import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox'
import { staleHeader } from '../readAfter.ts'
import { ItemParams, itemResponse, type QueryDependencies, type readSchema } from '../routeSchemas.ts'
import type { List } from './defineList.ts'
import { type ListQuery, maxTotal, openRows, readCounted, readItem } from './lists.ts'

/** What the route of a list or of a single resource needs to know besides its dependencies. */
export type Reading<Item extends TObject> = {
  readonly path: string
  readonly schema: ReturnType<typeof readSchema>
  readonly list: List<Item>
  /** The projections that a read waits for. */
  readonly reads: readonly [string, ...string[]]
  /** Of an item. */
  readonly example: object
  /** Called with the first item that a caller has read. */
  onRead?(caller: KnownActor, item: Static<Item>): void
}

/** The filters of a list, as query parameters. */
export const filterParameters = ({ filters }: List): TProperties => mapFields(filters, ({ schema }) => schema)

export const hasOrders = ({ orders }: List) => Object.keys(orders).length > 1

/** The order of a list, as query parameters. */
export const orderParameters = ({ orders }: List, description = 'Sort field') => ({
  orderBy: Type.Enum(Object.keys(orders), { default: 'created_at', description }),
  orderDir: Type.Enum(['asc', 'desc'], { default: 'desc', description: 'Sort direction' }),
})

/** The order of a list, in the `meta` of a response. */
export const orderMeta = ({ orders }: List) => ({
  orderBy: Type.Enum(Object.keys(orders)),
  orderDir: Type.Enum(['asc', 'desc']),
})

/** The largest page number whose offset fits into 64 bits. */
export const maxPage = 2_147_483_647

/** Which page of a list with numbered pages. */
export const pageParameters = {
  page: Type.Integer({ minimum: 1, maximum: maxPage, default: 1, description: 'Page number, from 1' }),
  limit: Type.Integer({ minimum: 1, maximum: 50, default: 20, description: 'Items per page' }),
}
export type PageQuery = ListQuery & { readonly page: number }

export const pageMeta = { page: Type.Integer(), limit: Type.Integer(), total: Type.Integer(), hasMore: Type.Boolean() }
export const examplePageMeta = { page: 1, limit: 20, total: 1, hasMore: false }

export const toPageMeta = ({ page, limit }: PageQuery, total: number) => ({
  ...{ page, limit, total },
  hasMore: page * limit < total,
})

export const offsetOf = ({ page, limit }: PageQuery) => (page - 1) * limit

/** Which page of a list that is read by cursor. */
export const cursorParameters = {
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Items per page' }),
  cursor: cursorParameter,
}
export type CursorQuery = ListQuery & { readonly cursor?: string }

export const cursorMeta = { limit: Type.Integer(), next_cursor: NextCursor }
export const exampleCursorMeta = { limit: 20, next_cursor: null }

type ListResponse = {
  readonly description: string
  readonly meta: TProperties
  /** The fields beside `data` and `meta`. */
  readonly others?: TProperties
  readonly example: { readonly data: readonly object[]; readonly meta: object; readonly [other: string]: object }
}

/** The response with a page of a list. */
export const listResponse = (item: TSchema, { description, meta, others, example }: ListResponse) =>
  Type.Object(
    { success: Type.Literal(true), data: Type.Array(item), meta: Type.Object(meta), ...others },
    { description, headers: staleHeader, examples: [{ success: true, ...example }] },
  )

const countedMeta = {
  ...cursorMeta,
  total: Type.Integer({ description: `Counted up to ${maxTotal}` }),
  total_is_exact: Type.Boolean(),
}

/** All rows of a list as a file. @param chosen the list and the query that are read */
export const fileOf = <Item extends TObject>(
  { path, list, example }: Pick<Reading<Item>, 'path' | 'list' | 'example'>,
  chosen: (
    db: Queryable,
    query: FileRequest['query'],
  ) => Promise<{ readonly list?: List; readonly query?: object }> = async () => ({}),
): ListFile => ({
  name: path.split('/').at(-1) ?? path,
  item: list.item,
  example,
  async open({ query }, client) {
    const found = await chosen(client, query)
    return await openRows(client, found.list ?? list, { ...query, ...found.query })
  },
})

/**
 * The list of administrators that has rows of everybody.
 * @param everybody `description` is of the response; `listFor` finds the list that a query reads, which has the same rows
 */
export function listOfEverybody<Item extends TObject>(
  http: FastifyInstance,
  { db, readAfter }: QueryDependencies,
  everybody: Reading<Item> & {
    readonly description: string
    readonly listFor?: (db: Queryable, query: FileRequest['query']) => Promise<List<Item>>
  },
): void {
  const { path, schema, list, reads, example, description } = everybody
  const { listFor = async () => list } = everybody
  const response = listResponse(list.item, {
    description,
    meta: countedMeta,
    example: { data: [example], meta: { ...exampleCursorMeta, total: 1, total_is_exact: true } },
  })
  const order = hasOrders(list) ? orderParameters(list) : {}
  const querystring = Type.Object({ ...filterParameters(list), ...order, ...cursorParameters })
  const file = fileOf(everybody, async (client, query) => ({ list: await listFor(client, query) }))
  http.get<{ Querystring: CursorQuery }>(
    path,
    {
      config: { right: 'read', file },
      preHandler: readAfter(...reads),
      schema: { ...schema, querystring, response: { 200: response } },
    },
    async ({ query }) => {
      const { items, next_cursor, total, isExact } = await readCounted(db, await listFor(db, query), query)
      const meta = { limit: query.limit, next_cursor, total, total_is_exact: isExact }
      return { success: true, data: items, meta }
    },
  )
}

/**
 * A resource by its id, with its revision as `ETag`.
 * @param name in words, for the error message: it is the same for an invalid id, a missing resource and another owner's
 * @param config who may read it
 */
export function getOne<Item extends TObject>(
  http: FastifyInstance,
  { db, readAfter }: QueryDependencies,
  {
    path,
    schema,
    list,
    reads,
    example,
    name,
    config,
    querystring,
    onRead,
  }: Reading<Item> & {
    readonly name: string
    readonly config: RouteAccess
    readonly querystring?: TSchema
  },
): void {
  const response = { 200: itemResponse(list.item, example) }
  http.get<{ Params: { readonly id: string } }>(
    path,
    {
      config,
      preHandler: readAfter(...reads),
      schema: { ...schema, params: ItemParams, ...(querystring && { querystring }), response },
    },
    async ({ actor, params }, reply) => {
      const id = recordedId(params.id)
      const caller = knownActor(actor)
      const owner = ownerOf(caller)
      const found = id === null ? undefined : await readItem(db, list, { id, owner })
      if (found === undefined) throw new DomainError('not_found', `No ${name} with this id`)
      onRead?.(caller, found.item)
      reply.header('etag', `"${found.revision}"`)
      return { success: true, data: found.item }
    },
  )
}
