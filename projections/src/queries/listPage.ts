// Reads lists: one page and the total in one statement.
import type { PagePosition } from '@paylog/runtime/http/cursor'
import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import type { QueryParameters } from './namedQuery.ts'

/** Rows with equal values are ordered by id. */
export type ListOrder<Column extends string = 'created_at'> = {
  readonly orderBy: Column
  readonly orderDir: 'asc' | 'desc'
}

/** The parameters of every list besides filters and order. */
export type PageParameters = { readonly page: number; readonly limit: number }

/** The parameters of a list that may start at any row. */
export type OffsetParameters = { readonly offset: number; readonly limit: number }

/** The only order of some lists. */
export const newestFirst = { orderBy: 'created_at', orderDir: 'desc' } as const

/** A page and the total, as of the same moment. */
export type ListPage<Item> = { readonly items: readonly Item[]; readonly total: number }

/** A page after a position. Rows are not counted, so that each page of a list takes the same time. */
export type NextPage<Item> = {
  readonly items: readonly Item[]
  /** Null on the last page. */
  readonly next: PagePosition | null
}

/** The parameters of a page after a position. `limit` is one more than the page, to know whether there is another. */
export type PositionParameters = {
  readonly after_value: PagePosition['value']
  readonly after_id: string
  readonly limit: number
}

/** The id of a single resource, always with an owner. */
export type ResourceQuery = {
  readonly id: string
  /** See `ownerOf`. */
  readonly owner: string
}

/** A single resource and the revision of its stream. */
export type Found<Item> = { readonly item: Item; readonly revision: bigint }

/** A column that is joined to the rows of a page, which are named `paged`. */
export type JoinedColumn = { readonly column: RawBuilder<unknown>; readonly join: RawBuilder<unknown> }

/** A row of the result: the total, with a row of the page or alone. */
type PagedRow<Row> = { readonly total: number } & (Row | { readonly id: null })

/**
 * Composes one page of a list.
 * @param matching all matching rows
 * @param related joined only to the rows of the page
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

/** Orders rows, with the id as tie-breaker. */
export function ordered<Views, View extends keyof Views, Row>(
  matching: SelectQueryBuilder<Views, View, Row>,
  { orderBy, orderDir }: ListOrder<string>,
): SelectQueryBuilder<Views, View, Row> {
  return matching.orderBy(sql.ref(orderBy), orderDir).orderBy(sql.ref('id'), orderDir)
}

/** Restricts rows to those after a position. An index on the column and the id finds them directly. */
export function afterPosition<Views, View extends keyof Views, Row>(
  matching: SelectQueryBuilder<Views, View, Row>,
  { after_value, after_id }: Pick<QueryParameters<PositionParameters>, 'after_value' | 'after_id'>,
  { orderBy, orderDir }: ListOrder<string>,
): SelectQueryBuilder<Views, View, Row> {
  const comparison = sql.raw(orderDir === 'asc' ? '>' : '<')
  return matching.where(
    sql<boolean>`(${sql.ref(orderBy)}, ${sql.ref('id')}) ${comparison} (${after_value}, ${after_id})`,
  )
}

/**
 * Composes the result of a list.
 * @param matching all matching rows
 * @param paged the rows of the page, with the column of the order
 */
export function withTotal<Views, View extends keyof Views, Row extends { readonly id: string }>(
  matching: SelectQueryBuilder<Views, View, unknown>,
  paged: SelectQueryBuilder<Views, View, Row>,
  { orderBy, orderDir }: ListOrder<string>,
  related?: JoinedColumn,
): RawBuilder<PagedRow<Row>> {
  const total = matching.clearSelect().select(sql<number>`count(*)`.as('total'))
  const direction = sql.raw(orderDir)
  // The count is a separate row, so a page past the end still has the total.
  return sql<PagedRow<Row>>`
    select counted.total, paged.*${related ? sql`, ${related.column}` : sql``}
    from ${total} as counted left join ${paged} as paged on true ${related ? related.join : sql``}
    order by ${sql.ref(`paged.${orderBy}`)} ${direction}, paged.id ${direction}`
}

/** @param itemOf converts a row into the resource that clients see */
export function toListPage<Row extends { readonly id: string }, Item>(
  rows: readonly PagedRow<Row>[],
  itemOf: (row: Row) => Item,
): ListPage<Item> {
  const found = rows.filter((row) => row.id !== null)
  return { items: found.map(itemOf), total: rows[0]?.total ?? 0 }
}
