// How every list is read: one page and the number of all that match, by one statement.
import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import { type Queryable, type ReadModels, readModels, runNamed } from './namedQuery.ts'

/** What every list asks for beside its filters. The id has the last word on the order. */
export type Paging<Column extends string = 'created_at'> = {
  readonly orderBy: Column
  readonly orderDir: 'asc' | 'desc'
  readonly page: number
  readonly limit: number
}

/** The order of lists that have only one. */
export const newestFirst = { orderBy: 'created_at', orderDir: 'desc' } as const

/** One page, and how many there are in all, both as of the same moment. */
export type Page<Item> = { readonly items: readonly Item[]; readonly total: number }

/** What a single resource is asked by. There is no way to ask without an owner. */
export type SingleQuestion = {
  readonly id: string
  /** See `ownerOf`. */
  readonly owner: string
}

/** A single resource, and the revision of its stream. */
export type Found<Item> = { readonly item: Item; readonly revision: bigint }

/** What the rows of a page bring along from elsewhere; their columns go by the name `paged`. */
export type Related = { readonly column: RawBuilder<unknown>; readonly join: RawBuilder<unknown> }

/**
 * Reads one page of a list.
 * @param matching all that match, with the columns of a row
 * @param related joined to the rows of the page alone, however many match
 */
export async function readPage<View extends keyof ReadModels, Row extends { readonly id: string }>(
  db: Queryable,
  matching: SelectQueryBuilder<ReadModels, View, Row>,
  { orderBy, orderDir, page, limit }: Paging<string>,
  related?: Related,
): Promise<Page<Row>> {
  const total = matching.clearSelect().select(sql<string>`count(*)`.as('total'))
  const paged = matching
    .orderBy(sql.ref(orderBy), orderDir)
    .orderBy(sql.ref('id'), orderDir)
    .limit(limit)
    .offset((page - 1) * limit)
  const direction = sql.raw(orderDir)
  // The count is one row, so that a page past the end still tells the total.
  const query = sql<{ readonly total: bigint | string } & (Row | { readonly id: null })>`
    select counted.total, paged.*${related ? sql`, ${related.column}` : sql``}
    from ${total} as counted left join ${paged} as paged on true ${related ? related.join : sql``}
    order by ${sql.ref(`paged.${orderBy}`)} ${direction}, paged.id ${direction}`
  const rows = await runNamed(db, query.compile(readModels))
  return { items: rows.filter((row) => row.id !== null), total: Number(rows[0]?.total ?? 0) }
}
