// Queries that kysely composes: compiled once for each shape, run with the values of each call, with fast parsing of columns.
import { hash } from 'node:crypto'
import { DomainError } from '@paylog/domain/errors'
import {
  type CompiledQuery,
  DummyDriver,
  type Expression,
  expressionBuilder,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type SqlBool,
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

/** A compiled query with the values of a call. `name` is that of a prepared statement. */
export type Statement = {
  readonly text: string
  readonly values: unknown[]
  readonly types: typeof columnTypes
  readonly name?: string
}

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

/** A value of each call, as a part of a query: a parameter of its text. */
export type Parameter<Value> = Expression<Value> & {
  /** The value in the form in which the query needs it. */
  as<Other>(convert: (value: Value) => Other): Parameter<Other>
}

/** All conditions that are not undefined. */
export const allOf = (conditions: readonly (Expression<SqlBool> | undefined)[]) =>
  expressionBuilder().and(conditions.filter((condition) => condition !== undefined))

/** The values of each call, by name. A boolean is itself, and so part of the text: partial indexes need it. */
export type Given<Values> = {
  readonly [Name in keyof Values]: [Values[Name]] extends [boolean | undefined]
    ? Values[Name]
    : Parameter<Exclude<Values[Name], undefined>> | (undefined extends Values[Name] ? undefined : never)
}

/** Takes a value from those of a call. */
type Picked<Value> = (values: Readonly<Record<string, unknown>>) => Value

const parameter = <Value>(pick: Picked<Value>): Parameter<Value> => ({
  expressionType: undefined,
  // A call replaces the function by its result.
  toOperationNode: () => ValueNode.create(pick),
  as: (convert) => parameter((values) => convert(pick(values))),
})

const isText = (value: unknown) => typeof value === 'boolean'

/** A query of the builder, or a template. */
type Composed<Row> = { compile(composer: Kysely<unknown>): CompiledQuery<Row> }

/** More shapes than requests have in practice: a caller who tries all of them must not fill the memory. */
const maxShapes = 1_000

/**
 * Defines a query: a prepared statement, which is composed and compiled for the first call of each shape. That takes ten times as
 * long as finding it again. Calls have one shape if they give the same values, apart from what the values are.
 * @param compose what differs between calls must be `given`, or part of the shape. It gets no values that are undefined
 * @param options `customPlan` makes Postgres plan every call for its values. A named statement eventually gets one generic
 *   plan for all values, whether nearly all rows match or hardly any.
 * @returns runs the query. Throws DomainError `service_unavailable` when the view lacks a column, database errors, and an Error
 *   for a query with a value that is not given: the next call, of another user, would run with it. `statementOf` is for
 *   `readBatches`
 */
export function defineQuery<Values extends object, Row, Shape extends readonly unknown[]>(
  compose: (given: Given<Values>, ...shape: Shape) => Composed<Row>,
  { customPlan = false }: { readonly customPlan?: boolean } = {},
) {
  const compiled = new Map<string, ReturnType<typeof compile>>()
  function statementOf(values: Values, ...shape: Shape): Statement {
    const set: [string, unknown][] = Object.entries(values).filter(([, value]) => value !== undefined)
    const key = JSON.stringify([shape, set.map(([name, value]) => (isText(value) ? [name, value] : name))])
    let query = compiled.get(key)
    if (query === undefined) {
      const given = set.map(([name, value]) => [name, isText(value) ? value : parameter((call) => call[name])])
      query = compile(compose(Object.fromEntries(given), ...shape))
      if (compiled.size >= maxShapes) compiled.clear()
      compiled.set(key, query)
    }
    const { text, name, picks } = query
    const call = Object.fromEntries(set)
    const statement = { text, values: picks.map((pick) => pick(call)), types: columnTypes }
    return customPlan ? statement : { ...statement, name }
  }
  async function run(db: Queryable, values: Values, ...shape: Shape): Promise<Row[]> {
    const { rows } = await db.query<Row & object>(statementOf(values, ...shape)).catch(rejectOtherView)
    return rows
  }
  return Object.assign(run, { statementOf })
}

/**
 * Runs a statement by a cursor, within the transaction of `client`, so that any number of rows need the memory of a batch.
 * @throws as a query of `defineQuery`
 */
export async function* readBatches<Row extends object>(
  client: Queryable,
  { text, values, types }: Statement,
  batchRows: number,
): AsyncGenerator<readonly Row[]> {
  await client.query(`declare batches no scroll cursor for ${text}`, values).catch(rejectOtherView)
  for (;;) {
    const { rows } = await client.query<Row>({ text: `fetch ${batchRows} from batches`, types })
    if (rows.length > 0) yield rows
    if (rows.length < batchRows) return
  }
}

function compile(query: Composed<unknown>) {
  const { sql: text, parameters } = query.compile(kysely)
  const picks = parameters.map((pick) => {
    if (typeof pick !== 'function') throw new Error(`A query has a value that is not given: ${text}`)
    return pick as Picked<unknown>
  })
  // The name follows from the text, so that a connection never has two texts under one name.
  return { text, picks, name: hash('sha256', text, 'base64url').slice(0, 24) }
}

const undefinedColumn = '42703'

/** The view belongs to another version of the program until a rebuild ends, or since one ended. */
function rejectOtherView(error: unknown): never {
  if (!(error instanceof Error && 'code' in error && error.code === undefinedColumn)) throw error
  const message = 'This data is being prepared for another version of the service; try again later'
  throw new DomainError('service_unavailable', message, undefined, { cause: error })
}
