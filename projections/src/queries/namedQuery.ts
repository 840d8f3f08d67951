// How columns arrive from the read models: as clients see them, and without a detour that lists would pay for sixty times.

import { createHash } from 'node:crypto'
import {
  type CompiledQuery,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryExecutorProvider,
  type RawBuilder,
  sql,
} from 'kysely'
import type { Pool } from 'pg'
import pg from 'pg'

const { builtins, getTypeParser } = pg.types
const dateOf = getTypeParser(builtins.TIMESTAMPTZ)
const inUtc = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,3})\d*)?\+00$/

/** Most servers tell the time in UTC, where it needs no reckoning: a list is read in two thirds of the time. */
function isoTime(text: string): string {
  const [, day, time, fraction = ''] = inUtc.exec(text) ?? []
  return day === undefined ? dateOf(text).toISOString() : `${day}T${time}.${fraction.padEnd(3, '0')}Z`
}

/** Times as ISO texts, and `int8` as numbers: amounts, counts and revisions are far below 2^53. */
export const columnTypes = new pg.TypeOverrides()
columnTypes.setTypeParser(builtins.TIMESTAMPTZ, isoTime)
columnTypes.setTypeParser(builtins.INT8, Number)

// Composes queries over views. Asking them is for `namedQuery.ts`: there is no connection here.

/**
 * For the views of one folder, which nobody else composes queries over.
 * @param schema that the views are in
 */
export function queryBuilder<Views>(schema: string): Kysely<Views> {
  return new Kysely<Views>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  }).withSchema(schema)
}

// Queries are composed once for everything that can be asked, without the values, and run as named statements, which a
// connection parses only once; those that have to be planned for their values, without a name.

/** What reading needs of a pool. */
export type Queryable = Pick<Pool, 'query'>

/** Stands in a query for a value that comes with every asking. */
export type Placeholder<Value> = RawBuilder<Value> & {
  /** The same value, put differently before it is sent. */
  through<Other>(change: (value: Value) => Other): Placeholder<Other>
}

/** The values of a question as its query sees them: which of them there are, but not what they are. */
export type QueryParameters<Values> = {
  readonly [Name in keyof Values]: Placeholder<Exclude<Values[Name], undefined>> | Extract<Values[Name], undefined>
}

/** A query as it was composed, of whatever parts. */
type ComposedQuery<Row> = { compile(compiler: QueryExecutorProvider): CompiledQuery<Row> }
const compiler = queryBuilder<never>('public')

/** What may have any number of values is a value, and no part of a shape: every shape is a statement of its own. */
type Finite<Shape> = { readonly [Name in keyof Shape]: string extends Shape[Name] ? never : Shape[Name] }

/**
 * A question that is asked again and again. Its SQL depends on its shape and on which values it is asked with, and is
 * composed once for each of these combinations. The values themselves come to it only when it is run, so that what was
 * composed for one caller holds nothing of theirs.
 *
 * @param compose uses every value that is given, and no others: constants are written as literals
 * @param options `plannedAnew` has Postgres plan each asking for its values. A named statement gets by, sooner or later,
 *   with one plan for all of them, which cannot know whether nearly every row matches or hardly any does.
 * @returns asks the question; throws Error, at the first asking already, when `compose` does not keep to that
 */
export function prepareQuery<
  Values extends object,
  Shape extends Readonly<Record<string, string | boolean>>,
  Row extends object,
>(
  compose: (asked: QueryParameters<Values>, shape: Shape) => ComposedQuery<Row>,
  { customPlan = false }: { readonly customPlan?: boolean } = {},
): (db: Queryable, values: Values, shape: Shape & Finite<Shape>) => Promise<Row[]> {
  const statements = new Map<string, Statement<Values>>()
  return async (db, values, shape) => {
    const names = namesOf(values).filter((name) => values[name] !== undefined)
    const combination = JSON.stringify([names, shape])
    let statement = statements.get(combination)
    if (statement === undefined) {
      statement = statementOf(names, (asked: QueryParameters<Values>) => compose(asked, shape))
      statements.set(combination, statement)
    }
    const { name, text, slots } = statement
    const bound = slots.map((slot) => slot.read(values))
    const query = { text, values: bound, types: columnTypes }
    const { rows } = await db.query<Row>(customPlan ? query : { ...query, name })
    return rows
  }
}

/** Where a value belongs in a statement. */
type Slot<Values, Value = unknown> = { readonly name: keyof Values; readonly read: (values: Values) => Value }
type Statement<Values> = { readonly name: string; readonly text: string; readonly slots: readonly Slot<Values>[] }

function statementOf<Values extends object>(
  names: readonly (keyof Values)[],
  compose: (asked: QueryParameters<Values>) => ComposedQuery<object>,
): Statement<Values> {
  const made: Slot<Values>[] = []
  const placeholder = <Value>(slot: Slot<Values, Value>): Placeholder<Value> => {
    made.push(slot)
    return Object.assign(sql<Value>`${slot}`, {
      through: <Other>(change: (value: Value) => Other) =>
        placeholder({ name: slot.name, read: (values) => change(slot.read(values)) }),
    })
  }
  const asked = Object.fromEntries(names.map((name) => [name, placeholder({ name, read: (values) => values[name] })]))
  const { sql: text, parameters } = compose(asked as QueryParameters<Values>).compile(compiler)
  const slots = parameters.map((parameter) => made.find((slot) => slot === parameter))
  if (!slots.every((slot) => slot !== undefined)) throw new Error(`A constant would be sent as a parameter of: ${text}`)
  const unused = names.filter((name) => !slots.some((slot) => slot.name === name))
  if (unused.length > 0) throw new Error(`Nothing is done with ${unused.join(', ')} in: ${text}`)
  // Named by its text, so that a connection never has two texts under one name.
  return { name: createHash('sha256').update(text).digest('base64url').slice(0, 24), text, slots }
}

/** `Object.keys`, for values whose type says all that they have. */
function namesOf<Values extends object>(values: Values): (keyof Values)[] {
  return Object.keys(values) as (keyof Values)[]
}
