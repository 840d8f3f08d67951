// Defines projections: a name, the columns of its table, and the change of a row by each event.
import type { DomainEvent, EventSchemas, EventsOf } from '@paylog/domain/events'
import type { SealedPart } from '@paylog/domain/personalData'
import type { NeededParts } from '@paylog/event-store/codec/decoder'
import type { SealedKeys } from '@paylog/event-store/codec/sealing'
import { type Column, type Columns, type ComputedColumns, entriesOf, type RowOf, type Values } from './columns.ts'

export type Change<Row> = { readonly insert: Row } | { readonly patch: Partial<Row> }

/** An event from the log. Its revision in its stream becomes the revision of its row. */
export type ProjectedEvent = DomainEvent & { readonly revision: bigint; readonly sealed: SealedKeys }

/** The column with the ids of the keys that sealed values of the row. Only tables that hold such values have it. */
export const keyIdsColumn = 'key_ids'
const keyIds = entriesOf<true>()
/**
 * Measured with half a million payments: without it an erasure reads all of them, in 0.7 s. It costs projecting less than what
 * differs from run to run.
 */
const keyIdsIndex = (table: string) =>
  `create index if not exists ${table}_by_key on ${table} using gin (${keyIdsColumn}) with (gin_pending_list_limit = 512);`
const erasurePrefix = 'erasure-'

/** A projection with erased event types, as it is run. */
export type Projection<
  Name extends string = string,
  Own extends Columns = Columns,
  Computed extends ComputedColumns = ComputedColumns,
> = {
  readonly name: Name
  /** Raised when the same events lead to different rows, so that tables must be rebuilt. */
  readonly schemaVersion: number
  readonly streamPrefixes: readonly string[]
  /** The sealed values that the rows hold. */
  readonly opens: NeededParts
  /** The stream of a row: the prefix, and the column with the id. */
  readonly rowStream: { readonly prefix: string; readonly column: string }
  readonly columns: Own
  /** Additional columns of the view. */
  readonly computed: Computed
  /** The SQL that creates the indexes of a table such as `payments_v3`, once it is filled. */
  readonly indexes: (table: string) => string
  /** The change of a row by an event; `undefined` for events of other projections. */
  changeOf(event: ProjectedEvent): { readonly id: string; readonly change: Change<Values> } | undefined
}

/**
 * Defines a projection. Its tables have `id uuid`, `revision bigint` and the columns. Events without a handler in `on` only
 * raise the revision. Handlers are pure and never throw, because a recorded event cannot be rejected. An insert may have more
 * values, such as the data of the event: those without a column are left out.
 *
 * With columns of sealed values the tables have `key_ids` too, and the projection follows erasures.
 *
 * @param definition `idOf` returns the row of an event, `undefined` for none; one row must be fed by one stream, since revisions
 *   guard the row. `streamIdColumn` has the id in the name of that stream, by default the row's own
 */
export function defineProjection<
  const Name extends string,
  Schemas extends EventSchemas,
  TableColumns extends Columns,
  Computed extends ComputedColumns = Record<never, never>,
>(definition: {
  readonly name: Name
  readonly schemaVersion: number
  readonly streamPrefix: string
  readonly streamIdColumn?: keyof TableColumns & string
  readonly columns: TableColumns
  readonly computed?: Computed
  readonly indexes: (table: string) => string
  readonly events: Schemas
  /** The sealed parts of events that handlers use; the values of others are null. */
  readonly opens?: { readonly [Type in keyof Schemas]?: readonly SealedPart[] }
  readonly idOf: (event: EventsOf<Schemas>) => string | undefined
  readonly on: {
    readonly [Type in keyof Schemas]?: (
      event: Extract<EventsOf<Schemas>, { type: Type }> & { readonly revision: bigint },
    ) => Change<RowOf<TableColumns>>
  }
}): Projection<Name, TableColumns, Computed> {
  const { events, idOf, on, streamPrefix, streamIdColumn = 'id', columns, indexes, ...rest } = definition
  const { opens = {} } = definition
  const handlers = new Map(Object.entries(on))
  const isPersonal = Object.values<Column>(columns).some(({ sealed }) => sealed !== undefined)
  return {
    ...rest,
    streamPrefixes: isPersonal ? [streamPrefix, erasurePrefix] : [streamPrefix],
    opens: new Map(Object.entries<readonly SealedPart[]>(opens)),
    rowStream: { prefix: streamPrefix, column: streamIdColumn },
    columns: isPersonal ? { ...columns, [keyIdsColumn]: keyIds } : columns,
    indexes: isPersonal ? (table) => `${indexes(table)};\n${keyIdsIndex(table)}` : indexes,
    computed: definition.computed ?? ({} as Computed),
    changeOf(recorded) {
      // The codec has checked that the data fits the type, but the compiler cannot connect the two.
      const event = recorded as DomainEvent as EventsOf<Schemas> & { readonly revision: bigint }
      const handle = handlers.get(event.type) as ((event: ProjectedEvent) => Change<Values>) | undefined
      if (!Object.hasOwn(events, event.type)) return undefined
      const id = idOf(event)
      if (id === undefined) return undefined
      const change = ofColumns(columns, handle?.(recorded) ?? { patch: {} })
      return { id, change: isPersonal ? withKeyIds(columns, change, recorded.sealed) : change }
    },
  }
}

function ofColumns(columns: Columns, change: Change<Values>): Change<Values> {
  if ('patch' in change) return change
  const insert: Record<string, Values[string]> = {}
  for (const name of Object.keys(columns)) {
    const value = change.insert[name]
    if (value !== undefined) insert[name] = value
  }
  return { insert }
}

/**
 * Adds the ids of the event's keys, if the change sets columns of sealed values. Also when they are null because a key was
 * destroyed: the ids must not depend on when the event is read.
 */
function withKeyIds(columns: Columns, change: Change<Values>, sealed: SealedKeys): Change<Values> {
  const values: Partial<Values> = 'insert' in change ? change.insert : change.patch
  const isSealed = (name: string) => columns[name]?.sealed !== undefined
  const { body: _, ...parts } = sealed
  const ids = Object.keys(values).some(isSealed) ? Object.values(parts).flat() : []
  const key_ids = ids.length === 0 ? null : Object.fromEntries(ids.map((id) => [id, true]))
  if ('insert' in change) return { insert: { ...change.insert, key_ids } }
  return key_ids === null ? change : { patch: { ...change.patch, key_ids } }
}
