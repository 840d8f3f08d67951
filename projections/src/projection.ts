// Defines projections: a name, the columns of its table, and the change of a row by each event.
import type { DomainEvent, EventSchemas, EventsOf } from '@paylog/domain/events'
import type { Columns, ComputedColumns, RowOf, Values } from './columns.ts'

export type Change<Row> = { readonly insert: Row } | { readonly patch: Partial<Row> }

/** An event from the log. Its revision in its stream becomes the revision of its row. */
export type ProjectedEvent = DomainEvent & { readonly revision: bigint }

/** A projection with erased event types, as it is run. */
export type Projection = {
  readonly name: string
  /** Raised when the same events lead to different rows, so that tables must be rebuilt. */
  readonly schemaVersion: number
  readonly streamPrefixes: readonly string[]
  readonly columns: Columns
  /** Additional columns of the view. */
  readonly computed: ComputedColumns
  /** The SQL that creates the indexes of a table such as `payments_v3`, once it is filled. */
  readonly indexes: (table: string) => string
  /** The change of a row by an event; `undefined` for events of other projections. */
  changeOf(event: ProjectedEvent): { readonly id: string; readonly change: Change<Values> } | undefined
}

/**
 * Defines a projection. Its tables have `id uuid`, `revision bigint` and the columns. Events without a handler in `on` only
 * raise the revision. Handlers are pure and never throw, because a recorded event cannot be rejected.
 *
 * @param definition `idOf` returns the row of an event, `undefined` for none; one row must be fed by one stream, since revisions
 *   guard the row
 */
export function defineProjection<Schemas extends EventSchemas, TableColumns extends Columns>(definition: {
  readonly name: string
  readonly schemaVersion: number
  readonly streamPrefixes: readonly string[]
  readonly columns: TableColumns
  readonly computed?: ComputedColumns
  readonly indexes: (table: string) => string
  readonly events: Schemas
  readonly idOf: (event: EventsOf<Schemas>) => string | undefined
  readonly on: {
    readonly [Type in keyof Schemas]?: (
      event: Extract<EventsOf<Schemas>, { type: Type }> & { readonly revision: bigint },
    ) => Change<RowOf<TableColumns>>
  }
}): Projection {
  const { events, idOf, on, computed = {}, ...rest } = definition
  const handlers = new Map(Object.entries(on))
  return {
    ...rest,
    computed,
    changeOf(recorded) {
      // The codec has checked that the data fits the type, but the compiler cannot connect the two.
      const event = recorded as DomainEvent as EventsOf<Schemas> & { readonly revision: bigint }
      const handle = handlers.get(event.type) as ((event: ProjectedEvent) => Change<Values>) | undefined
      if (!Object.hasOwn(events, event.type)) return undefined
      const id = idOf(event)
      return id === undefined ? undefined : { id, change: handle?.(recorded) ?? { patch: {} } }
    },
  }
}
