// Defines projections: a name, a table, and the change of a row by each event.
import type { DomainEvent } from '@paylog/domain/events'

export type Value = string | number | boolean | null | Readonly<Record<string, unknown>>
export type Values = Readonly<Record<string, Value>>

/**
 * How a column applies a later value, in memory (both changes in one batch) and in SQL (the earlier one in the table).
 * Both must agree, and must be harmless when a change is repeated.
 */
export type Merge = {
  /** `earlier` is undefined when the row is not in this batch. */
  inMemory(earlier: Value | undefined, later: Value): Value
  /** The SQL that merges two SQL expressions. */
  inTable(current: string, later: string): string
}

export const latest: Merge = { inMemory: (_, later) => later, inTable: (_, later) => later }

export const first: Merge = {
  inMemory: (earlier, later) => earlier ?? later,
  inTable: (current, later) => `coalesce(${current}, ${later})`,
}

export type Column = {
  readonly type: 'text' | 'bigint' | 'boolean' | 'timestamptz' | 'json'
  /** Columns without a merge rule cannot be patched. */
  readonly merge?: Merge
}

export type Change<Row> = { readonly insert: Row } | { readonly patch: Partial<Row> }

/** An event from the log. Its revision in its stream becomes the revision of its row. */
export type ProjectedEvent = DomainEvent & { readonly revision: bigint }

/** The SQL of a projection's table with a name such as `payments_v3`, and of its view. */
export type TableSql = {
  /** Creates the table with its primary key; other indexes follow when it is filled. */
  readonly create: (table: string) => string
  readonly indexes: (table: string) => string
  /** The query of the view. */
  readonly view: (table: string) => string
}

/** A projection with erased event types, as it is run. */
export type Projection = {
  readonly name: string
  /** Raised when the same events lead to different rows, so that tables must be rebuilt. */
  readonly schemaVersion: number
  readonly streamPrefixes: readonly string[]
  readonly table: TableSql
  readonly columns: Readonly<Record<string, Column>>
  /** The change of a row by an event; `undefined` for events of other projections. */
  changeOf(event: ProjectedEvent): { readonly id: string; readonly change: Change<Values> } | undefined
}

/**
 * Defines a projection. Its tables have `id uuid`, `revision bigint` and the columns. Events without a handler in `on` only
 * raise the revision. Handlers are pure and never throw, because a recorded event cannot be rejected.
 *
 * @param definition `idOf` returns the row of an event; one stream must feed one row, since revisions guard the row
 */
export function defineProjection<Event extends DomainEvent, Row extends Values>(definition: {
  readonly name: string
  readonly schemaVersion: number
  readonly streamPrefixes: readonly string[]
  readonly table: TableSql
  readonly columns: { readonly [Name in keyof Row]: Column }
  readonly idOf: (event: Event) => string
  readonly events: { readonly [Type in Event['type']]: unknown }
  readonly on: { readonly [Type in Event['type']]?: (event: Extract<Event, { type: Type }>) => Change<Row> }
}): Projection {
  const { name, schemaVersion, streamPrefixes, table, columns, idOf } = definition
  const handlers = new Map(Object.entries(definition.on))
  return {
    name,
    schemaVersion,
    streamPrefixes,
    table,
    columns,
    changeOf(recorded) {
      // The codec has checked that the data fits the type, but the compiler cannot connect the two.
      const event = recorded as DomainEvent as Event
      const handle = handlers.get(event.type) as ((event: Event) => Change<Row>) | undefined
      if (!Object.hasOwn(definition.events, event.type)) return undefined
      return { id: idOf(event), change: handle?.(event) ?? { patch: {} } }
    },
  }
}
