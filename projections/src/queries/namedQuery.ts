// Builds queries once and runs them as prepared statements, with fast parsing of column values.

import { createHash } from 'node:crypto'
import { DomainError } from '@paylog/domain/errors'
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

/** Servers mostly use UTC, whose times need no conversion: a list is read in two thirds of the time. */
function isoTime(text: string): string {
  const [, day, time, fraction = ''] = inUtc.exec(text) ?? []
  return day === undefined ? dateOf(text).toISOString() : `${day}T${time}.${fraction.padEnd(3, '0')}Z`
}

/** Times as ISO text, and `int8` as numbers: amounts, counts and revisions are far below 2^53. */
export const columnTypes = new pg.TypeOverrides()
columnTypes.setTypeParser(builtins.TIMESTAMPTZ, isoTime)
columnTypes.setTypeParser(builtins.INT8, Number)

/**
 * A query builder for the views of one folder. It has no connection: `prepareQuery` runs the queries.
 * @param schema of the views
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

/** The part of a pool that reading needs. */
export type Queryable = Pick<Pool, 'query'>

/** A parameter of a query. */
export type Placeholder<Value> = RawBuilder<Value> & {
  /** The same parameter, converted before it is sent. */
  through<Other>(change: (value: Value) => Other): Placeholder<Other>
}

/** The parameters that a call passes, without their values. */
export type QueryParameters<Values> = {
  readonly [Name in keyof Values]: Placeholder<Exclude<Values[Name], undefined>> | Extract<Values[Name], undefined>
}

/** A composed query of any kind. */
type ComposedQuery<Row> = { compile(compiler: QueryExecutorProvider): CompiledQuery<Row> }
const compiler = queryBuilder<never>('public')

/** Shapes must be finite, because each shape is its own statement; anything else is a value. */
type Finite<Shape> = { readonly [Name in keyof Shape]: string extends Shape[Name] ? never : Shape[Name] }

/**
 * Prepares a query. Its SQL depends on the shape and on which values are given, and is composed once for each combination.
 * Values are bound only when it runs, so a composed query contains no caller's data.
 *
 * @param compose must use every given value and no other: constants are written as literals
 * @param options `customPlan` makes Postgres plan every call for its values. A named statement eventually gets one generic
 *   plan for all values, whether nearly all rows match or hardly any.
 * @returns runs the query; throws Error on the first call when `compose` breaks the rule above, DomainError
 *   `service_unavailable` when the view lacks a column, and database errors
 */
export function prepareQuery<
  Values extends object,
  Shape extends Readonly<Record<string, string | boolean>>,
  Row extends object,
>(
  compose: (parameters: QueryParameters<Values>, shape: Shape) => ComposedQuery<Row>,
  { customPlan = false }: { readonly customPlan?: boolean } = {},
): (db: Queryable, values: Values, shape: Shape & Finite<Shape>) => Promise<Row[]> {
  const statements = new Map<string, Statement<Values>>()
  return async (db, values, shape) => {
    const names = namesOf(values).filter((name) => values[name] !== undefined)
    const combination = `${names.join()} ${Object.values(shape).join()}`
    let statement = statements.get(combination)
    if (statement === undefined) {
      statement = statementOf(names, (parameters: QueryParameters<Values>) => compose(parameters, shape))
      statements.set(combination, statement)
    }
    const { name, text, slots } = statement
    const bound = slots.map((slot) => slot.read(values))
    const query = { text, values: bound, types: columnTypes }
    const { rows } = await db.query<Row>(customPlan ? query : { ...query, name }).catch(rejectOtherView)
    return rows
  }
}

const undefinedColumn = '42703'

/** The view belongs to another version of the program until a rebuild ends, or since one ended. */
function rejectOtherView(error: unknown): never {
  if (!(error instanceof Error && 'code' in error && error.code === undefinedColumn)) throw error
  const message = 'This data is being prepared for another version of the service; try again later'
  throw new DomainError('service_unavailable', message, undefined, { cause: error })
}

/** A parameter's place in a statement. */
type Slot<Values, Value = unknown> = { readonly name: keyof Values; readonly read: (values: Values) => Value }
type Statement<Values> = { readonly name: string; readonly text: string; readonly slots: readonly Slot<Values>[] }

function statementOf<Values extends object>(
  names: readonly (keyof Values)[],
  compose: (parameters: QueryParameters<Values>) => ComposedQuery<object>,
): Statement<Values> {
  const created: Slot<Values>[] = []
  const placeholder = <Value>(slot: Slot<Values, Value>): Placeholder<Value> => {
    created.push(slot)
    return Object.assign(sql<Value>`${slot}`, {
      through: <Other>(change: (value: Value) => Other) =>
        placeholder({ name: slot.name, read: (values) => change(slot.read(values)) }),
    })
  }
  const placeholders = Object.fromEntries(
    names.map((name) => [name, placeholder({ name, read: (values) => values[name] })]),
  )
  const { sql: text, parameters } = compose(placeholders as QueryParameters<Values>).compile(compiler)
  const slots = parameters.map((parameter) => created.find((slot) => slot === parameter))
  if (!slots.every((slot) => slot !== undefined)) throw new Error(`A constant would be sent as a parameter of: ${text}`)
  const unused = names.filter((name) => !slots.some((slot) => slot.name === name))
  if (unused.length > 0) throw new Error(`The query does not use ${unused.join(', ')}: ${text}`)
  // Named after its text, so that a connection never has two texts under one name.
  return { name: createHash('sha256').update(text).digest('base64url').slice(0, 24), text, slots }
}

/** `Object.keys` with the type's keys. */
function namesOf<Values extends object>(values: Values): (keyof Values)[] {
  return Object.keys(values) as (keyof Values)[]
}
