// Queries that kysely composes: compiled once for each shape, run with the values of each call, with fast parsing of columns.
import { hash } from 'node:crypto'
import { DomainError } from '@paylog/domain/errors'
import {
  type Compilable,
  DummyDriver,
  type Expression,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  ValueNode,
} from 'kysely'
import type { Pool } from 'pg'
import pg from 'pg'

const { builtins, getTypeParser } = pg.types
const dateOf = getTypeParser(builtins.TIMESTAMPTZ)
const inUtc = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,3})\d*)?\+00$/

/** Servers mostly use UTC, whose times need no conversion: a list is read in two thirds of the time. */
function isoTime(text: string): string {
  const [, day, time, fraction = ''] = inUtc.exec(text) ?? []
  return day === undefined ? dateOf(text).toISOString() : `${day}T${time}.${fraction.padEnd(3, '0')}Z`
}

/** Times as ISO text, and `int8` as numbers: amounts, counts and revisions are far below 2^53. */
export const columnTypes = new pg.TypeOverrides()
columnTypes.setTypeParser(builtins.TIMESTAMPTZ, isoTime)
columnTypes.setTypeParser(builtins.INT8, Number)

/** The part of a pool that reading needs. */
export type Queryable = Pick<Pool, 'query'>

const kysely = new Kysely<unknown>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
})

/** Only composes queries of these tables: it has no connection. */
export const composerOf = <Database>(): Kysely<Database> => kysely as Kysely<Database>

/** A value that each call gives, as a part of a query: a parameter of its text. */
export type Parameter<Value> = Expression<Value> & {
  /** The value in the form in which the query needs it. */
  as<Other>(convert: (value: Value) => Other): Parameter<Other>
}

/** Makes a parameter from what each call gives. */
export type Given<Input> = <Value>(pick: (input: Input) => Value) => Parameter<Value>

function parameter<Input, Value>(pick: (input: Input) => Value): Parameter<Value> {
  return {
    expressionType: undefined,
    // A call replaces the function by its result.
    toOperationNode: () => ValueNode.create(pick),
    as: (convert) => parameter((input: Input) => convert(pick(input))),
  }
}

/** A compiled query. */
export type Query<Input, Row> = {
  readonly text: string
  /** Follows from the text, so that a connection never has two texts under one name. */
  readonly name: string
  valuesOf(input: Input): readonly unknown[]
  /** Never set. It carries the type of the rows. */
  readonly row?: Row
}

/** More shapes than requests have in practice: a caller who tries all of them must not fill the memory. */
const maxShapes = 1_000

/**
 * Queries of several shapes, each compiled when it is first needed: that takes ten times as long as finding it again.
 * @param compose composes the query of a shape. All values that differ between calls of one shape must be `given`
 * @returns the query of a shape, which is data. Throws an Error for a query that has a value which is not given: another call
 *   would run with it
 */
export function queriesByShape<Input, Shape, Row>(
  compose: (given: Given<Input>, shape: Shape) => Compilable<Row>,
): (shape: Shape) => Query<Input, Row> {
  const known = new Map<string, Query<Input, Row>>()
  return (shape) => {
    const key = JSON.stringify(shape)
    const found = known.get(key)
    if (found !== undefined) return found
    const [oldest] = known.keys()
    if (oldest !== undefined && known.size >= maxShapes) known.delete(oldest)
    const query = compileQuery<Input, Row>((given) => compose(given, shape))
    known.set(key, query)
    return query
  }
}

/** A query that has one shape only. See `queriesByShape`. */
export function compileQuery<Input, Row>(compose: (given: Given<Input>) => Compilable<Row>): Query<Input, Row> {
  const { sql: text, parameters } = compose(parameter).compile()
  const picks = parameters.map((pick) => {
    if (typeof pick !== 'function') throw new Error(`A query has a value that is not given: ${text}`)
    return pick as (input: Input) => unknown
  })
  return {
    text,
    name: hash('sha256', text, 'base64url').slice(0, 24),
    valuesOf: (input) => picks.map((pick) => pick(input)),
  }
}

/**
 * Runs a query as a prepared statement.
 * @param options `customPlan` makes Postgres plan every call for its values. A named statement eventually gets one generic
 *   plan for all values, whether nearly all rows match or hardly any.
 * @throws DomainError `service_unavailable` when the view lacks a column, and database errors
 */
export async function runQuery<Input, Row extends object>(
  db: Queryable,
  { text, name, valuesOf }: Query<Input, Row>,
  input: Input,
  { customPlan = false }: { readonly customPlan?: boolean } = {},
): Promise<Row[]> {
  const statement = { text, values: [...valuesOf(input)], types: columnTypes }
  const { rows } = await db.query<Row>(customPlan ? statement : { ...statement, name }).catch(rejectOtherView)
  return rows
}

const undefinedColumn = '42703'

/** The view belongs to another version of the program until a rebuild ends, or since one ended. */
function rejectOtherView(error: unknown): never {
  if (!(error instanceof Error && 'code' in error && error.code === undefinedColumn)) throw error
  const message = 'This data is being prepared for another version of the service; try again later'
  throw new DomainError('service_unavailable', message, undefined, { cause: error })
}
