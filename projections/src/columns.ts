// Describes the columns of read models. Tables, views, writes and the types of rows follow from the description.

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

export type Column<Held extends Value = Value> = {
  readonly type: 'text' | 'bigint' | 'boolean' | 'timestamptz' | 'json' | 'jsonb' | 'uuid'
  readonly isNullable: boolean
  /** Whether an insert of an existing row merges its value too, and does not replace it. */
  readonly isMerged?: true
  /** Columns without a merge rule cannot be patched. */
  readonly merge?: Merge
  readonly collation?: string
  /** Which values of events it holds that are sealed there, or what follows from them. Guest data is personal. */
  readonly sealed?: 'personal' | 'secret'
  /** Never set. It carries the type of the values. */
  readonly held?: Held
}

export type Columns = Readonly<Record<string, Column>>
/** Columns that only the view has, by an SQL expression over the columns of the table. */
export type ComputedColumns = Readonly<Record<string, Column & { readonly sql: string }>>

/** The row that a projection writes. */
export type RowOf<Described extends Columns> = {
  readonly [Name in keyof Described]: Described[Name] extends Column<infer Held> ? Held : never
}

export const textOf = <Held extends string>(): Column<Held> => ({ type: 'text', isNullable: false })
export const text = textOf<string>()
export const uuid: Column<string> = { type: 'uuid', isNullable: false }
export const bigint: Column<number> = { type: 'bigint', isNullable: false }
export const boolean: Column<boolean> = { type: 'boolean', isNullable: false }
/** An instant, in the program as ISO 8601 text. */
export const time: Column<string> = { type: 'timestamptz', isNullable: false }
/** Only returned as a whole, so its text is stored unchanged. */
export const jsonOf = <Held extends Readonly<Record<string, unknown>>>(): Column<Held> => ({
  type: 'json',
  isNullable: false,
})

export const nullable = <Held extends Value>(column: Column<Held>): Column<Held | null> => ({
  ...column,
  isNullable: true,
})

/** Holds what identifies a person, or what follows from it: without it once the person is erased. */
export const personal = <Held extends Value>(column: Column<Held>): Column<Held> => ({ ...column, sealed: 'personal' })

/** Holds what lets its holder pay. */
export const secret = <Held extends Value>(column: Column<Held>): Column<Held> => ({ ...column, sealed: 'secret' })

/** A later value replaces an earlier one. */
export const latest = <Held extends Value>(column: Column<Held>): Column<Held> => ({
  ...column,
  merge: { inMemory: (_, later) => later, inTable: (_, later) => later },
})

/** The first value stays. */
export const first = <Held extends Value>(column: Column<Held>): Column<Held> => ({
  ...column,
  merge: {
    inMemory: (earlier, later) => earlier ?? later,
    inTable: (current, later) => `coalesce(${current}, ${later})`,
  },
})

/** An insert of an existing row merges the value. */
export const merged = <Held extends Value>(column: Column<Held>): Column<Held> => ({ ...column, isMerged: true })

/** The value of the row's first event. A later insert of the row leaves it. */
export const kept = <Held extends Value>(column: Column<Held>): Column<Held> => merged(first(column))

/** A JSON object whose entries are replaced one by one; null without any. Keys of JSON have no NUL and no lone surrogates. */
export const entriesOf = <Entry>(): Column<Readonly<Record<string, Entry>> | null> => ({
  type: 'jsonb',
  isNullable: true,
  merge: {
    inMemory: (earlier, later) => ({ ...objectOf(earlier), ...objectOf(later) }),
    inTable: (current, later) => `coalesce(${current}, '{}') || ${later}`,
  },
})

const objectOf = (value: Value | undefined) => (typeof value === 'object' ? value : null)

/** A column that only the view has. @param sql its expression */
export const computed = <Held extends Value>(column: Column<Held>, sql: string) => ({ ...column, sql })
