// Lists of read models. The SQL of a list, its query parameters and its routes follow from one description.
import type { OrderedValue, PagePosition } from '@paylog/runtime/http/cursor'
import { allOf, composerOf, defineQuery, type Given, type Parameter } from '@paylog/runtime/postgres/runQuery'
import { type Expression, expressionBuilder, type SqlBool, sql } from 'kysely'
import type { Static, TObject } from 'typebox'
import type { Item, View, Views } from '../readModels.ts'
import { type Filter, hasGuestEmail } from './filters.ts'

/** The column that a list is ordered by. */
export type Order<Column extends string = string> = { readonly column: Column; readonly holds: OrderedValue }

export const byCreation = { created_at: { column: 'created_at', holds: 'time' } } as const
export const byChange = { ...byCreation, updated_at: { column: 'updated_at', holds: 'time' } } as const

/** The fields of an item that are no columns of the view, or columns with other values. */
type Missing<Of extends View, Fields> = {
  [Name in keyof Fields]: Name extends keyof Views[Of] ? (Views[Of][Name] extends Fields[Name] ? never : Name) : Name
}[keyof Fields]

type Description<Of extends View, Shown extends TObject> = {
  /** Only its fields are read, so that new columns are not shown by accident. */
  readonly item: Shown
  /** By the name of the parameter. */
  readonly filters: Readonly<Record<string, Filter<Of>>>
  /** By the value of the parameter `orderBy`. */
  readonly orders: Readonly<Record<string, Order<keyof Views[Of] & string>>>
  /** The rows that an owner reads. Without it, rows have no owner: the caller must be an administrator. */
  readBy?(item: Item<Of>, owner: Parameter<string>, isGuest: boolean): Expression<SqlBool>
  /** The fields of an item that are not columns of the view. `owner` is who reads it. */
  computed(
    item: Item<Of>,
    owner: Parameter<string>,
  ): { readonly [Name in Missing<Of, Static<Shown>>]: Expression<Static<Shown>[Name]> } & {
    readonly [Name in keyof Static<Shown>]?: Expression<Static<Shown>[Name]>
  }
}

/** A list of any view, which is in the schema `read_models`. */
type Described<Shown extends TObject = TObject> = Description<never, Shown> & { readonly view: View }
export type List<Shown extends TObject = TObject> = Described<Shown> & ReturnType<typeof queriesOf>

export function defineList<Of extends View, Shown extends TObject>(
  view: Of,
  description: Description<NoInfer<Of>, Shown>,
): List<Shown> {
  const described = { view, ...description } as unknown as Described<Shown>
  return { ...described, ...queriesOf(described) }
}

type Values = {
  /** Empty for a list without owners. */
  readonly owner: string
  readonly isGuest: boolean
  /** Only rows with this guest e-mail, of a list with owners. */
  readonly ofGuest?: string | undefined
  /** What the filters read. */
  readonly [filter: string]: unknown
}
type PageValues = Values & {
  readonly limit: number
  readonly offset?: number
  /** The position of the last row of the previous page. */
  readonly afterValue?: PagePosition['value'] | undefined
  readonly afterId?: string | undefined
  /** Whether Postgres must sort the rows, and not use an index in their order. */
  readonly isSorted?: boolean
}
type Sorted = Order & { readonly direction: 'asc' | 'desc' }
type ListRow = { readonly id: string; readonly position: PagePosition['value'] }

/** What all views have. */
type Row = { readonly id: string; readonly revision: number }
const rows = composerOf<Readonly<Record<`read_models.${View}`, Row>>>()

/** Added to a column, so that no index has the expression. The values stay the same. */
const withoutIndex: Readonly<Record<OrderedValue, string>> = { time: "+ interval '0'", integer: '+ 0', text: "|| ''" }

const tableOf = ({ view }: Described) => `read_models.${view} as item` as const

function matchingRows(list: Described, given: Given<Values>) {
  const owned = list.readBy?.(expressionBuilder(), given.owner, given.isGuest)
  const ofGuest = list.readBy && given.ofGuest && hasGuestEmail(given.ofGuest)
  const filtered = Object.entries(list.filters).flatMap(([name, { where }]) =>
    given[name] === undefined ? [] : where(given[name]),
  )
  return rows.selectFrom(tableOf(list)).where(allOf([owned, ofGuest, ...filtered]))
}

/** The whole rows of a page. */
function pageOf(list: Described, given: Given<PageValues>, { column, holds, direction }: Sorted) {
  const { limit, offset, afterValue, afterId } = given
  const key = sql.ref(`item.${column}`)
  const comparison = sql.raw(direction === 'asc' ? '>' : '<')
  const page = matchingRows(list, given)
    .$if(afterId !== undefined, (all) =>
      all.where(sql<SqlBool>`(${key}, item.id) ${comparison} (${afterValue}, ${afterId})`),
    )
    .orderBy(given.isSorted ? sql`${key} ${sql.raw(withoutIndex[holds])}` : key, direction)
    .orderBy('item.id', direction)
    .limit(limit)
    .$if(offset !== undefined, (all) => all.offset(offset ?? 0))
  if (list.readBy !== undefined) return page.selectAll()
  // Finds the ids first, from an index alone, without reading the rows that are skipped.
  return rows.selectFrom(tableOf(list)).selectAll().where('item.id', 'in', page.select('item.id'))
}

function queriesOf(list: Described) {
  const { item, readBy, computed } = list
  // Plans for any value are good for the rows of one owner only.
  const options = { customPlan: readBy === undefined }
  const matching = (given: Given<Values>) => matchingRows(list, given)

  const fieldsOf = ({ owner }: Given<Values>) => {
    const others: Readonly<Record<string, Expression<unknown> | undefined>> = computed(expressionBuilder(), owner)
    return Object.keys(item.properties).map((name) => sql`${others[name] ?? sql.ref(`item.${name}`)}`.as(name))
  }

  const listed = (given: Given<Values>, { column }: Sorted) => [
    ...fieldsOf(given),
    sql.ref(`item.${column}`).as('position'),
  ]

  return {
    /** A page, and how many rows there are in all. The count is a separate row, so a page past the end still has the total. */
    page: defineQuery((given: Given<PageValues>, order: Sorted) => {
      const counted = matching(given).select(({ fn }) => fn.countAll<number>().as('total'))
      return rows
        .selectFrom(counted.as('counted'))
        .leftJoin(pageOf(list, given, order).as('item'), (join) => join.onTrue())
        .select(['counted.total', ...listed(given, order)])
        .orderBy(sql.ref(`item.${order.column}`), order.direction)
        .orderBy('item.id', order.direction)
        .$castTo<(ListRow | { readonly id: null }) & { readonly total: number }>()
    }, options),

    /** The first page, or the page after a position. */
    after: defineQuery(
      (given: Given<PageValues>, order: Sorted) =>
        rows
          .selectFrom(pageOf(list, given, order).as('item'))
          .select(listed(given, order))
          .orderBy(sql.ref(`item.${order.column}`), order.direction)
          .orderBy('item.id', order.direction)
          .$castTo<ListRow>(),
      options,
    ),

    /** All rows. */
    all: defineQuery(
      (given: Given<Values>, { column, direction }: Sorted) =>
        matching(given)
          .select(fieldsOf(given))
          .orderBy(sql.ref(`item.${column}`), direction)
          .orderBy('item.id', direction)
          .$castTo<object>(),
      options,
    ),

    /** How many rows there are, counted up to the limit if there is one. */
    count: defineQuery((given: Given<Values & { readonly limit?: number }>) => {
      const counted = matching(given)
        .select('item.id')
        .$if(given.limit !== undefined, (all) => all.limit(given.limit ?? 0))
      return rows.selectFrom(counted.as('counted')).select(({ fn }) => fn.countAll<number>().as('total'))
    }, options),

    one: defineQuery((given: Given<Values & { readonly id: string }>) =>
      matching(given)
        .where('item.id', '=', given.id)
        .select(['item.revision', ...fieldsOf(given)])
        .$castTo<{ readonly revision: number }>(),
    ),
  }
}
