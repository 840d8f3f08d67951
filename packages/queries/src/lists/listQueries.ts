// The queries of lists, from their descriptions: composed when a request of their shape is first made.
import type { OrderedValue, PagePosition } from '@paylog/runtime/http/cursor'
import { composerOf, type Given, queriesByShape } from '@paylog/runtime/postgres/runQuery'
import { type Expression, type SqlBool, sql } from 'kysely'
import type { List, Order, View } from './defineList.ts'

/** Which rows a request asks for: the filters of the list, with values that fit their schemas. */
export type Filters = {
  /** See `ownerOf`. Required for a list whose rows have owners. */
  readonly owner?: string | undefined
  readonly [filter: string]: unknown
}

/** What a request asks of a list. */
export type ListQuery = Filters & {
  readonly limit: number
  readonly orderBy?: string | undefined
  readonly orderDir?: 'asc' | 'desc' | undefined
}

/** What all requests with the same text of a query have in common. */
type Shape = {
  /** The names of the filters, and the variants of their values. */
  readonly filters: readonly (readonly [name: string, variant: string])[]
  /** The variant of the owner. */
  readonly reader?: string | undefined
}
type OrderedShape = Shape & {
  readonly orderBy: string
  readonly orderDir: 'asc' | 'desc'
  readonly isAfter?: boolean
  readonly isSorted?: boolean
}

/** The conditions that a request sets. @throws Error without an owner where one is required */
export function shapeOf({ view, readBy, filters }: List, query: Filters): Shape {
  if (readBy !== undefined && query.owner === undefined) throw new Error(`Reading ${view} requires an owner`)
  const set = Object.keys(filters).flatMap((name) => {
    const value = query[name]
    const variant = value === undefined ? undefined : filters[name]?.variantOf(value)
    return variant === undefined ? [] : [[name, variant] as const]
  })
  return { filters: set, reader: readBy?.variantOf(query.owner) }
}

/** What all views have. */
type Row = { readonly id: string; readonly revision: number }
const rows = composerOf<Readonly<Record<`read_models.${View}`, Row>>>()

const tableOf = ({ view }: List) => `read_models.${view} as item` as const

function conditionsOf(list: List, given: Given<Filters>, { filters, reader }: Shape): Expression<SqlBool>[] {
  const owned = list.readBy?.where(
    given(({ owner }) => owner),
    reader ?? '',
  )
  const filtered = filters.flatMap(([name, variant]) => {
    const value = given((query) => query[name])
    return list.filters[name]?.where(value, variant) ?? []
  })
  return [...(owned === undefined ? [] : [owned]), ...filtered]
}

type Offset = { readonly offset: number }
type Position = { readonly position?: PagePosition | undefined }
type ListRow = { readonly id: string; readonly position: PagePosition['value'] }

const cached = new WeakMap<List, ReturnType<typeof queriesOf>>()

/** The queries of a list. */
export function listQueries(list: List) {
  const known = cached.get(list)
  if (known !== undefined) return known
  const queries = queriesOf(list)
  cached.set(list, queries)
  return queries
}

const queriesOf = (list: List) => ({
  /** A page, and how many rows there are in all. The count is a separate row, so a page past the end still has the total. */
  page: queriesByShape((given: Given<ListQuery & Offset>, shape: OrderedShape) => {
    const conditions = conditionsOf(list, given, shape)
    const counted = matching(list, conditions).select(({ fn }) => fn.countAll<number>().as('total'))
    const page = pageOf(list, shape, conditions)
      .limit(given(({ limit }) => limit))
      .offset(given(({ offset }) => offset))
    return rows
      .selectFrom(counted.as('counted'))
      .leftJoin(wholeRows(list, page).as('item'), (join) => join.onTrue())
      .select(['counted.total', ...listedFields(list, given, shape)])
      .orderBy(orderKey(list, shape), shape.orderDir)
      .orderBy('item.id', shape.orderDir)
      .$castTo<(ListRow | { readonly id: null }) & { readonly total: number }>()
  }),

  /** The first page, or the page after a position, and one more row, which shows whether there is another page. */
  after: queriesByShape((given: Given<ListQuery & Position>, shape: OrderedShape) => {
    const conditions = [...conditionsOf(list, given, shape), ...(shape.isAfter ? [isAfter(list, given, shape)] : [])]
    const page = pageOf(list, shape, conditions).limit(given(({ limit }) => limit + 1))
    return rows
      .selectFrom(wholeRows(list, page).as('item'))
      .select(listedFields(list, given, shape))
      .orderBy(orderKey(list, shape), shape.orderDir)
      .orderBy('item.id', shape.orderDir)
      .$castTo<ListRow>()
  }),

  /** How many rows there are, counted up to `max`. */
  count: queriesByShape((given: Given<Filters & { readonly max: number }>, shape: Shape) => {
    const counted = matching(list, conditionsOf(list, given, shape)).select('item.id')
    return rows
      .selectFrom(counted.limit(given(({ max }) => max)).as('counted'))
      .select(({ fn }) => fn.countAll<number>().as('total'))
  }),

  one: queriesByShape((given: Given<Filters & { readonly id: string }>, shape: Shape) =>
    matching(list, conditionsOf(list, given, shape))
      .where(
        'item.id',
        '=',
        given(({ id }) => id),
      )
      .select(['item.revision', ...fieldsOf(list, given)])
      .$castTo<{ readonly revision: number }>(),
  ),
})

function matching(list: List, conditions: readonly Expression<SqlBool>[]) {
  return rows.selectFrom(tableOf(list)).where(({ and }) => and(conditions))
}

function pageOf(list: List, shape: OrderedShape, conditions: readonly Expression<SqlBool>[]) {
  const { column, holds } = orderOf(list, shape)
  const key = sql.ref(`item.${column}`)
  return matching(list, conditions)
    .orderBy(shape.isSorted ? sql`${key} ${sql.raw(withoutIndex[holds])}` : key, shape.orderDir)
    .orderBy('item.id', shape.orderDir)
}

/** Added to a column, so that no index has the expression. The values stay the same. */
const withoutIndex: Readonly<Record<OrderedValue, string>> = { time: "+ interval '0'", integer: '+ 0', text: "|| ''" }

function wholeRows(list: List, page: ReturnType<typeof pageOf>) {
  if (list.readBy !== undefined) return page.selectAll()
  // Finds the ids first, from an index alone, without reading the rows that are skipped.
  return rows.selectFrom(tableOf(list)).selectAll().where('item.id', 'in', page.select('item.id'))
}

function fieldsOf({ item, computed }: List, given: Given<Filters>) {
  const expressions = computed(given(({ owner = '' }) => owner))
  return Object.keys(item.properties).map((name) => sql`${expressions[name] ?? sql.ref(`item.${name}`)}`.as(name))
}

const listedFields = (list: List, given: Given<ListQuery>, shape: OrderedShape) => [
  ...fieldsOf(list, given),
  orderKey(list, shape).as('position'),
]

const orderKey = (list: List, shape: OrderedShape) => sql.ref(`item.${orderOf(list, shape).column}`)

/** @throws Error for an order that the list does not have */
export function orderOf({ view, orders }: List, { orderBy }: { readonly orderBy: string }): Order {
  const order = orders[orderBy]
  if (order === undefined) throw new Error(`${view} has no order by ${orderBy}`)
  return order
}

function isAfter(list: List, given: Given<Position>, shape: OrderedShape): Expression<SqlBool> {
  const value = given(({ position }) => position?.value)
  const id = given(({ position }) => position?.id)
  const comparison = sql.raw(shape.orderDir === 'asc' ? '>' : '<')
  return sql`(${orderKey(list, shape)}, item.id) ${comparison} (${value}, ${id})`
}
