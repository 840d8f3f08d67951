// Reads lists of read models.
import { decodeCursor, encodeCursor, type PagePosition } from '@paylog/runtime/http/cursor'
import { type Queryable, runQuery } from '@paylog/runtime/postgres/runQuery'
import type { Static, TObject } from 'typebox'
import type { List } from './defineList.ts'
import { type Filters, type ListQuery, listQueries, orderOf, shapeOf } from './listQueries.ts'

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
  const page = listQueries(list).page({ ...shapeOf(list, query), ...orderingOf(query) })
  const rows = await runQuery(db, page, query, planningOf(list))
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
  { isSorted = false }: { readonly isSorted?: boolean } = {},
): Promise<ListPage<Static<Item>>> {
  const { cursor, limit } = query
  const ordering = orderingOf(query)
  const { holds } = orderOf(list, ordering)
  const position = cursor === undefined ? undefined : decodeCursor(listIdentity(list, query), holds, cursor)
  const shape = { ...shapeOf(list, query), ...ordering, isAfter: position !== undefined, isSorted }
  const rows = await runQuery(db, listQueries(list).after(shape), { ...query, position }, planningOf(list))
  return pageOf(list, query, rows.slice(0, limit), rows.length > limit)
}

/** How many rows match, counted up to `max`. */
export async function countUpTo(db: Queryable, list: List, query: ListQuery, max: number): Promise<number> {
  const count = listQueries(list).count(shapeOf(list, query))
  const [row] = await runQuery(db, count, { ...query, max }, planningOf(list))
  return row?.total ?? 0
}

/** @returns undefined if it is missing, or another owner's */
export async function readItem<Item extends TObject>(
  db: Queryable,
  list: List<Item>,
  query: { readonly id: string; readonly owner?: string | undefined },
): Promise<Found<Static<Item>> | undefined> {
  const { reader } = shapeOf(list, { owner: query.owner })
  const [row] = await runQuery(db, listQueries(list).one({ filters: [], reader }), query)
  if (row === undefined) return undefined
  const { revision, ...item } = row
  return { item: item as Static<Item>, revision: BigInt(revision) }
}

/** Plans for any value are good for the rows of one owner only. */
const planningOf = ({ readBy }: List) => ({ customPlan: readBy === undefined })

const orderingOf = ({ orderBy = 'created_at', orderDir = 'desc' }: ListQuery) => ({ orderBy, orderDir })

/** The order and the filters, to which a cursor is tied. */
export function listIdentity({ view, filters }: List, query: Filters): readonly string[] {
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
