// Runs queries that are composed for each call, with fast parsing of column values.
import { hash } from 'node:crypto'
import { DomainError } from '@paylog/domain/errors'
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type RawBuilder,
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

/** A query, or a part of one, by kysely's `sql`: the values in it become parameters. */
export type Sql<Row = unknown> = RawBuilder<Row>

/** Only makes the text of queries: it has no connection. */
const compiler = new Kysely<never>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
})

/**
 * Runs a query as a prepared statement. Composing it takes a few microseconds.
 * @param options `customPlan` makes Postgres plan every call for its values. A named statement eventually gets one generic
 *   plan for all values, whether nearly all rows match or hardly any.
 * @throws DomainError `service_unavailable` when the view lacks a column, and database errors
 */
export async function runQuery<Row extends object>(
  db: Queryable,
  query: Sql<Row>,
  { customPlan = false }: { readonly customPlan?: boolean } = {},
): Promise<Row[]> {
  const { sql: text, parameters } = query.compile(compiler)
  const statement = { text, values: [...parameters], types: columnTypes }
  const { rows } = await db
    .query<Row>(customPlan ? statement : { ...statement, name: statementName(text) })
    .catch(rejectOtherView)
  return rows
}

/** The texts have no values, so there are few. */
const names = new Map<string, string>()

/** Named after its text, so that a connection never has two texts under one name. */
function statementName(text: string): string {
  const known = names.get(text)
  if (known !== undefined) return known
  const name = hash('sha256', text, 'base64url').slice(0, 24)
  names.set(text, name)
  return name
}

const undefinedColumn = '42703'

/** The view belongs to another version of the program until a rebuild ends, or since one ended. */
function rejectOtherView(error: unknown): never {
  if (!(error instanceof Error && 'code' in error && error.code === undefinedColumn)) throw error
  const message = 'This data is being prepared for another version of the service; try again later'
  throw new DomainError('service_unavailable', message, undefined, { cause: error })
}
