// What a projection is: a name, a table, and what each event means for its rows.
import type { DomainEvent } from '@paylog/domain/events'

export type Value = string | number | boolean | null | Readonly<Record<string, unknown>>
export type Values = Readonly<Record<string, Value>>

/**
 * How a column takes over a later value. It is told twice, because a change meets an earlier one either in memory, when
 * both are in one batch, or in the table. Both must agree, and must be harmless when a change comes a second time.
 */
export type Merge = {
  /** `earlier` is undefined when the row is not in this batch, so that nothing is known about it yet. */
  inMemory(earlier: Value | undefined, later: Value): Value
  /** SQL that merges the SQL expressions of the two. */
  inTable(current: string, later: string): string
}

export const latest: Merge = { inMemory: (_, later) => later, inTable: (_, later) => later }

export const first: Merge = {
  inMemory: (earlier, later) => earlier ?? later,
  inTable: (current, later) => `coalesce(${current}, ${later})`,
}

export type Column = {
  readonly type: 'text' | 'bigint' | 'boolean' | 'timestamptz' | 'json'
  /** Only a column that has one can be patched; the others keep what the row began with. */
  readonly merge?: Merge
}

export type Change<Row> = { readonly insert: Row } | { readonly patch: Partial<Row> }

/** An event as the log hands it out. Its revision in its stream becomes the revision of its row. */
export type ProjectedEvent = DomainEvent & { readonly revision: bigint }

/** The SQL that makes a table of the projection under a name such as `payments_v3`, and the view that queries know. */
export type TableSql = {
  /** Makes it with its primary key; it is filled before it gets the other indexes. */
  readonly create: (table: string) => string
  readonly indexes: (table: string) => string
  /** The query that the view stands for. */
  readonly view: (table: string) => string
}

/** A projection as it is run: what its definition knows about the types of its events is erased. */
export type Projection = {
  readonly name: string
  /** Is raised when the same events make other rows than before, so that those of a table have to be made again. */
  readonly schemaVersion: number
  readonly streamPrefixes: readonly string[]
  readonly table: TableSql
  readonly columns: Readonly<Record<string, Column>>
  /** What an event does to which row; nothing for an event that the projection does not take. */
  changeOf(event: ProjectedEvent): { readonly id: string; readonly change: Change<Values> } | undefined
}

/**
 * Defines a projection. Its tables have `id uuid`, `revision bigint` and the columns. Of the `events` that it takes, those
 * without a handler in `on` change the revision alone. Handlers are pure and never throw: a recorded fact cannot be refused.
 *
 * @param definition `idOf` tells the row of an event; one stream must feed one row, since revisions guard the row
 */
export function defineProjection<Event extends DomainEvent, Row extends Values>(definition: {
  readonly name: string
  readonly definition: number
  readonly streamPrefixes: readonly string[]
  readonly table: TableSql
  readonly columns: { readonly [Name in keyof Row]: Column }
  readonly idOf: (event: Event) => string
  readonly events: { readonly [Type in Event['type']]: unknown }
  readonly on: { readonly [Type in Event['type']]?: (event: Extract<Event, { type: Type }>) => Change<Row> }
}): Projection {
  const { name, streamPrefixes, table, columns, idOf } = definition
  const handlers = new Map(Object.entries(definition.on))
  return {
    name,
    schemaVersion: definition.definition,
    streamPrefixes,
    table,
    columns,
    changeOf(recorded) {
      // The codec has checked that the data fits the type's name, and the map is keyed by these very names; the compiler
      // cannot follow a name from one to the other.
      const event = recorded as DomainEvent as Event
      const handle = handlers.get(event.type) as ((event: Event) => Change<Row>) | undefined
      if (!Object.hasOwn(definition.events, event.type)) return undefined
      return { id: idOf(event), change: handle?.(event) ?? { patch: {} } }
    },
  }
}
