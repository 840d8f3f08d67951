// How every list is read: one page and the number of all that match, by one statement.
import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import type { QueryParameters } from './namedQuery.ts'

/** The id has the last word on the order. */
export type ListOrder<Column extends string = 'created_at'> = {
  readonly orderBy: Column
  readonly orderDir: 'asc' | 'desc'
}

/** What every list asks for beside its filters and its order. */
export type PageParameters = { readonly page: number; readonly limit: number }

/** The same of a list that may begin anywhere, also between two pages. */
export type OffsetParameters = { readonly offset: number; readonly limit: number }

/** The order of lists that have only one. */
export const newestFirst = { orderBy: 'created_at', orderDir: 'desc' } as const

/** One page, and how many there are in all, both as of the same moment. */
export type ListPage<Item> = { readonly items: readonly Item[]; readonly total: number }

/** What a single resource is asked by. There is no way to ask without an owner. */
export type ResourceQuery = {
  readonly id: string
  /** See `ownerOf`. */
  readonly owner: string
}

/** A single resource, and the revision of its stream. */
export type Found<Item> = { readonly item: Item; readonly revision: bigint }

/** What the rows of a page bring along from elsewhere; their columns go by the name `paged`. */
export type JoinedColumn = { readonly column: RawBuilder<unknown>; readonly join: RawBuilder<unknown> }

/** A row of the answer: the total, beside a row of the page or beside nothing. */
type PagedRow<Row> = { readonly total: number } & (Row | { readonly id: null })

/**
 * Composes one page of a list.
 * @param matching all that match, with the columns of a row
 * @param related joined to the rows of the page alone, however many match
 */
export function pageQuery<Views, View extends keyof Views, Row extends { readonly id: string }>(
  matching: SelectQueryBuilder<Views, View, Row>,
  { page, limit }: QueryParameters<PageParameters>,
  order: ListOrder<string>,
  related?: JoinedColumn,
): RawBuilder<PagedRow<Row>> {
  const paged = ordered(matching, order).limit(limit).offset(sql<bigint>`(${page}::bigint - 1) * ${limit}`)
  return withTotal(matching, paged, order, related)
}

/** Puts rows into an order, in which each has its one place. */
export function ordered<Views, View extends keyof Views, Row>(
  matching: SelectQueryBuilder<Views, View, Row>,
  { orderBy, orderDir }: ListOrder<string>,
): SelectQueryBuilder<Views, View, Row> {
  return matching.orderBy(sql.ref(orderBy), orderDir).orderBy(sql.ref('id'), orderDir)
}

/**
 * Composes the answer of a list.
 * @param matching all that match
 * @param paged those of the page, with the column that they are in the order of
 */
export function withTotal<Views, View extends keyof Views, Row extends { readonly id: string }>(
  matching: SelectQueryBuilder<Views, View, unknown>,
  paged: SelectQueryBuilder<Views, View, Row>,
  { orderBy, orderDir }: ListOrder<string>,
  related?: JoinedColumn,
): RawBuilder<PagedRow<Row>> {
  const total = matching.clearSelect().select(sql<number>`count(*)`.as('total'))
  const direction = sql.raw(orderDir)
  // The count is one row, so that a page past the end still tells the total.
  return sql<PagedRow<Row>>`
    select counted.total, paged.*${related ? sql`, ${related.column}` : sql``}
    from ${total} as counted left join ${paged} as paged on true ${related ? related.join : sql``}
    order by ${sql.ref(`paged.${orderBy}`)} ${direction}, paged.id ${direction}`
}

/** @param itemOf makes of a row what clients see */
export function toListPage<Row extends { readonly id: string }, Item>(
  rows: readonly PagedRow<Row>[],
  itemOf: (row: Row) => Item,
): ListPage<Item> {
  const found = rows.filter((row) => row.id !== null)
  return { items: found.map(itemOf), total: rows[0]?.total ?? 0 }
}
