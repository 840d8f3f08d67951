// Reads lists of read models.
import { isGuestOwner } from '@paylog/domain/actor'
import { decodeCursor, encodeCursor, type PagePosition } from '@paylog/runtime/http/cursor'
import { type FileRows, fileBatchRows } from '@paylog/runtime/http/listFiles'
import { type Queryable, readBatches } from '@paylog/runtime/postgres/runQuery'
import type { Static, TObject } from 'typebox'
import type { List } from './defineList.ts'

/** What a request asks of a list: its filters, with values that fit their schemas, and these. */
export type ListQuery = {
  /** See `ownerOf`. Required for a list whose rows have owners. */
  readonly owner?: string | undefined
  /** Only rows with this guest e-mail, of a list with owners. */
  readonly ofGuest?: string | undefined
  readonly limit: number
  readonly orderBy?: string | undefined
  readonly orderDir?: 'asc' | 'desc' | undefined
  readonly [filter: string]: unknown
}

/** Counting stops here. */
export const maxTotal = 10_000

/** Part of a list. */
export type ListPage<Item> = {
  readonly items: Item[]
  /** Where the next page begins; null on the last page. */
  readonly next_cursor: string | null
}

/** A single resource and the revision of its stream. */
export type Found<Item> = { readonly item: Item; readonly revision: bigint }

/** Reads a page that begins after `offset` rows, and how many rows there are in all, as of the same moment. */
export async function readPage<Item extends TObject>(
  db: Queryable,
  list: List<Item>,
  query: ListQuery & { readonly offset: number },
): Promise<ListPage<Static<Item>> & { readonly total: number }> {
  const { limit, offset } = query
  const rows = await list.page(db, { ...valuesOf(list, query), limit, offset }, orderOf(list, query))
  const found = rows.filter((row) => row.id !== null)
  const total = rows[0]?.total ?? 0
  return { ...pageOf(list, query, found, offset + found.length < total), total }
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
  { isSorted = false }: { readonly isSorted?: boolean } = {},
): Promise<ListPage<Static<Item>>> {
  const { cursor, limit } = query
  const order = orderOf(list, query)
  const position = cursor === undefined ? undefined : decodeCursor(listIdentity(list, query), order.holds, cursor)
  const after = { afterValue: position?.value, afterId: position?.id, isSorted }
  // One more, to know whether there is another page.
  const rows = await list.after(db, { ...valuesOf(list, query), ...after, limit: limit + 1 }, order)
  return pageOf(list, query, rows.slice(0, limit), rows.length > limit)
}

/** @returns the page as `readAfter`, and how many rows match, counted up to `maxTotal` */
export async function readCounted<Item extends TObject>(
  db: Queryable,
  list: List<Item>,
  query: ListQuery & { readonly cursor?: string | undefined },
): Promise<ListPage<Static<Item>> & { readonly total: number; readonly isExact: boolean }> {
  const counted = list.count(db, { ...valuesOf(list, query), limit: maxTotal + 1 })
  const unfiltered = filtersOf(list, query).length > 0 ? undefined : readAfter(db, list, query)
  const [[count], all] = await Promise.all([counted, unfiltered])
  const total = count?.total ?? 0
  const isExact = total <= maxTotal
  const page = all ?? (await readAfter(db, list, query, { isSorted: isExact }))
  return { ...page, total: Math.min(total, maxTotal), isExact }
}

/** All rows, for a file. @param db a client in a transaction that sees one moment, and that lasts until they are read */
export async function openRows(db: Queryable, list: List, query: Omit<ListQuery, 'limit'>): Promise<FileRows> {
  const values = valuesOf(list, query)
  const [row] = await list.count(db, values)
  const batches = readBatches(db, list.all.statementOf(values, orderOf(list, query)), fileBatchRows)
  return { count: row?.total ?? 0, batches }
}

/** @returns undefined if it is missing, or another owner's */
export async function readItem<Item extends TObject>(
  db: Queryable,
  list: List<Item>,
  { id, owner }: { readonly id: string; readonly owner?: string | undefined },
): Promise<Found<Static<Item>> | undefined> {
  const [row] = await list.one(db, { ...valuesOf(list, { owner }), id })
  if (row === undefined) return undefined
  const { revision, ...item } = row
  return { item: item as Static<Item>, revision: BigInt(revision) }
}

/** The values of the filters that restrict. */
const filtersOf = ({ filters }: List, query: Partial<ListQuery>) =>
  Object.entries(filters).flatMap(([name, { read }]) => {
    const value = query[name] === undefined ? undefined : read(query[name])
    return value === undefined ? [] : [[name, value] as const]
  })

/** @throws Error without an owner where one is required */
function valuesOf(list: List, query: Partial<ListQuery>) {
  const { owner = '', ofGuest } = query
  if (list.readBy !== undefined && owner === '') throw new Error(`Reading ${list.view} requires an owner`)
  return { ...Object.fromEntries(filtersOf(list, query)), owner, isGuest: isGuestOwner(owner), ofGuest }
}

function orderOf({ view, orders }: List, query: Pick<ListQuery, 'orderBy' | 'orderDir'>) {
  const { orderBy = 'created_at', orderDir: direction = 'desc' } = query
  const order = orders[orderBy]
  if (order === undefined) throw new Error(`${view} has no order by ${orderBy}`)
  return { ...order, direction }
}

/** The order and the filters, to which a cursor is tied. */
export function listIdentity({ view, filters }: List, query: Omit<ListQuery, 'limit'>): readonly string[] {
  const names = ['orderBy', 'orderDir', ...Object.keys(filters)]
  const given = names.filter((name) => query[name] !== undefined)
  return [view, ...given.flatMap((name) => [name, String(query[name])])]
}

type ListRow = { readonly id: string; readonly position: PagePosition['value']; readonly total?: number }

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
