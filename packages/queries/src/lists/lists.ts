// Lists of read models. The SQL of a list, its query parameters and its routes follow from one description.
import { decodeCursor, encodeCursor, type OrderedValue, type PagePosition } from '@paylog/runtime/http/cursor'
import { sql } from 'kysely'
import { type Static, type TObject, type TSchema, Type } from 'typebox'
import { type Queryable, runQuery, type Sql } from './runQuery.ts'

/** A query parameter that restricts a list. */
export type Filter = {
  readonly schema: TSchema
  /** @returns the condition on the columns of the view; undefined for a value that does not restrict */
  where(value: unknown): Sql | undefined
}

/** @param where returns the condition for a value that fits the schema */
export const filter = <Schema extends TSchema>(
  schema: Schema,
  description: string,
  where: (value: Static<Schema>) => Sql | undefined,
): Filter => ({ schema: Type.Optional(Type.With(schema, { description })), where })

/** The column that a list is ordered by. */
export type Order = { readonly column: string; readonly holds: OrderedValue }

export type List<Item extends TObject = TObject> = {
  /** In the schema `read_models`. */
  readonly view: string
  /** Only its fields are read, so that new columns are not shown by accident. */
  readonly item: Item
  /** The fields that are not columns of the view, as SQL about a row that is named `item`. @param owner who reads it */
  readonly computed?: (owner: string | undefined) => Readonly<Record<string, Sql>>
  /** The rows that an owner reads. Without it, rows have no owner: the caller must be an administrator. */
  readonly readBy?: (owner: string) => Sql
  /** By the name of the parameter. */
  readonly filters: Readonly<Record<string, Filter>>
  /** By the value of the parameter `orderBy`. */
  readonly orders: Readonly<Record<string, Order>>
}

export const byCreation = { created_at: { column: 'created_at', holds: 'time' } } as const

/** What a request asks of a list: its filters, with values that fit their schemas, and these. */
export type ListQuery = {
  /** See `ownerOf`. Required for a list whose rows have owners. */
  readonly owner?: string | undefined
  readonly limit: number
  readonly orderBy?: string | undefined
  readonly orderDir?: 'asc' | 'desc' | undefined
  readonly [filter: string]: unknown
}

/** Part of a list. */
export type ListPage<Item> = {
  readonly items: Item[]
  /** Where the next page begins; null on the last page. */
  readonly next_cursor: string | null
}

/** A single resource and the revision of its stream. */
export type Found<Item> = { readonly item: Item; readonly revision: bigint }

type ListRow = { readonly id: string; readonly position: PagePosition['value']; readonly total?: number }

/** Reads a page that begins after `offset` rows, and how many rows there are in all, as of the same moment. */
export async function readPage<Item extends TObject>(
  db: Queryable,
  list: List<Item>,
  query: ListQuery & { readonly offset: number },
): Promise<ListPage<Static<Item>> & { readonly total: number }> {
  const matching = sql`${viewOf(list)} where ${allOf(conditionsOf(list, query))}`
  // The count is a separate row, so a page past the end still has the total.
  const composed = sql<(ListRow | { readonly id: null }) & { readonly total: number }>`
    select counted.total, ${listedFields(list, query)}
    from (select count(*) as total from ${matching}) as counted left join (${rowsOf(list, matching, query)}) as item on true
    ${orderSql(list, query, { of: 'item.' })}`
  const rows = await runQuery(db, composed, planningOf(list))
  const found = rows.filter((row) => row.id !== null)
  const total = rows[0]?.total ?? 0
  return { ...pageOf(list, query, found, query.offset + found.length < total), total }
}

/**
 * Reads the first page, or the page after a cursor. Rows are not counted, so that each page of a list takes the same time.
 * @param options `isSorted` sorts the rows, if they are few: Postgres would read a whole index in its order, because it expects to
 *   find them early in it
 * @throws DomainError `invalid_request` for a cursor of another list, order or filter
 */
export async function readAfter<Item extends TObject>(
  db: Queryable,
  list: List<Item>,
  query: ListQuery & { readonly cursor?: string | undefined },
  options: Sorting = {},
): Promise<ListPage<Static<Item>>> {
  const matching = sql`${viewOf(list)} where ${allOf([...conditionsOf(list, query), ...afterCursor(list, query)])}`
  // One more, to know whether there is another page.
  const page = rowsOf(list, matching, { ...query, limit: query.limit + 1, offset: 0 }, options)
  const composed = sql<ListRow>`select ${listedFields(list, query)} from (${page}) as item ${orderSql(list, query, { of: 'item.' })}`
  const rows = await runQuery(db, composed, planningOf(list))
  return pageOf(list, query, rows.slice(0, query.limit), rows.length > query.limit)
}

/** @returns undefined if it is missing, or another owner's */
export async function readItem<Item extends TObject>(
  db: Queryable,
  list: List<Item>,
  { id, owner }: { readonly id: string; readonly owner?: string | undefined },
): Promise<Found<Static<Item>> | undefined> {
  const isRead = allOf([sql`id = ${id}`, ...ownershipOf(list, owner)])
  const composed = sql<{ readonly revision: number }>`
    select ${fieldsOf(list, owner)}, item.revision from ${viewOf(list)} as item where ${isRead}`
  const [row] = await runQuery(db, composed)
  if (row === undefined) return undefined
  const { revision, ...item } = row
  return { item: item as Static<Item>, revision: BigInt(revision) }
}

const viewOf = ({ view }: List) => sql.raw(`read_models.${view}`)

/** Plans for any value are good for the rows of one owner only. */
const planningOf = ({ readBy }: List) => ({ customPlan: readBy === undefined })

/** The conditions on all rows of a list. */
export function conditionsOf(list: List, query: ListQuery): Sql[] {
  const filters = Object.entries(list.filters).flatMap(([name, { where }]) =>
    query[name] === undefined ? [] : (where(query[name]) ?? []),
  )
  return [...ownershipOf(list, query.owner), ...filters]
}

/** @throws Error without an owner where one is required */
function ownershipOf({ view, readBy }: List, owner: string | undefined): Sql[] {
  if (readBy === undefined) return []
  if (owner === undefined) throw new Error(`Reading ${view} requires an owner`)
  return [readBy(owner)]
}

export const allOf = (conditions: readonly Sql[]): Sql =>
  conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `)

/** One text for all columns, because each part of a query takes time. */
function fieldsOf({ item, computed }: List, owner: string | undefined): Sql {
  const expressions = computed?.(owner) ?? {}
  const columns = Object.keys(item.properties).filter((name) => !Object.hasOwn(expressions, name))
  const others = Object.entries(expressions).map(([name, expression]) => sql`${expression} as ${sql.raw(name)}`)
  return sql.join([sql.raw(columns.map((name) => `item.${name}`).join(', ')), ...others])
}

const listedFields = (list: List, query: ListQuery) =>
  sql`${fieldsOf(list, query.owner)}, ${sql.raw(`item.${orderOf(list, query).column}`)} as position`

type Sorting = { readonly isSorted?: boolean }

/** The whole rows of a page. */
function rowsOf(list: List, matching: Sql, query: ListQuery & { readonly offset: number }, options: Sorting = {}): Sql {
  const page = sql`${matching} ${orderSql(list, query, options)} limit ${query.limit} offset ${query.offset}`
  if (list.readBy !== undefined) return sql`select * from ${page}`
  // Finds the ids first, from an index alone, without reading the rows that are skipped.
  return sql`select * from ${viewOf(list)} where id in (select id from ${page})`
}

function orderOf({ view, orders }: List, { orderBy = 'created_at' }: ListQuery): Order {
  const order = orders[orderBy]
  if (order === undefined) throw new Error(`${view} has no order by ${orderBy}`)
  return order
}

/** Added to a column, so that no index has the expression. The values stay the same. */
const withoutIndex: Readonly<Record<OrderedValue, string>> = { time: "+ interval '0'", integer: '+ 0', text: "|| ''" }

function orderSql(
  list: List,
  query: ListQuery,
  { of = '', isSorted = false }: Sorting & { readonly of?: string } = {},
) {
  const { column, holds } = orderOf(list, query)
  const direction = query.orderDir === 'asc' ? 'asc' : 'desc'
  const key = isSorted ? `${column} ${withoutIndex[holds]}` : `${of}${column}`
  return sql.raw(`order by ${key} ${direction}, ${of}id ${direction}`)
}

function afterCursor(list: List, query: ListQuery & { readonly cursor?: string | undefined }): Sql[] {
  if (query.cursor === undefined) return []
  const { column, holds } = orderOf(list, query)
  const { value, id } = decodeCursor(listIdentity(list, query), holds, query.cursor)
  const comparison = sql.raw(query.orderDir === 'asc' ? '>' : '<')
  return [sql`(${sql.raw(column)}, id) ${comparison} (${value}, ${id})`]
}

/** The order and the filters, to which a cursor is tied. */
export function listIdentity({ view, filters }: List, query: Omit<ListQuery, 'limit'>): readonly string[] {
  const names = ['orderBy', 'orderDir', ...Object.keys(filters)]
  const given = names.filter((name) => query[name] !== undefined)
  return [view, ...given.flatMap((name) => [name, String(query[name])])]
}

/** Rows have nothing but the item and what `ListRow` names. */
function pageOf<Item extends TObject>(
  list: List<Item>,
  query: ListQuery,
  rows: readonly ListRow[],
  hasNext: boolean,
): ListPage<Static<Item>> {
  const last = hasNext ? rows.at(-1) : undefined
  const next = last === undefined ? null : { value: last.position, id: last.id }
  return {
    items: rows.map(({ position: _, total: __, ...item }) => item as Static<Item>),
    next_cursor: encodeCursor(listIdentity(list, query), next),
  }
}
