// Captures the SQL statements that the API sends for a query, as a pgbench script.
import type { Queryable } from '@paylog/projections/queries/namedQuery'
import { queryApi } from '@paylog/query-routes/queryApi'
import { createHttp } from '@paylog/runtime/http/http'
import type { Logger } from '@paylog/runtime/telemetry/log'
import { type BenchQuery, isProductQuery, rowsOf, subjectOf } from './benchQueries.ts'
import { idOf, idSql, owner as ownerName, ownerOfRowSql, ownerSql, type Spread, userId } from './owners.ts'

export type Script = {
  readonly text: string
  /** Parameters of the caller, besides the random ones. */
  readonly variables: Readonly<Record<string, string>>
  /** Whether the API uses named prepared statements, or plans each time. */
  readonly protocol: 'prepared' | 'extended'
}

type Statement = { readonly name?: string; readonly text: string; readonly values?: readonly unknown[] }

const sampleRow = 1

/**
 * Calls the routes and records their statements, so that nothing is copied by hand.
 * @throws Error when the response is not 200
 */
export async function sameSql(
  benchQuery: BenchQuery,
  { db, spread, log }: { readonly db: Queryable; readonly spread: Spread; readonly log: Logger },
): Promise<Script> {
  const statements: Statement[] = []
  const subject = subjectOf(sampleRow, benchQuery, spread)
  const query = new Proxy(db.query, {
    apply: (target, _, [statement]) => {
      statements.push(statement)
      return Reflect.apply(target, db, [statement])
    },
  })
  const http = createHttp({ log })
  const is_administrator = isProductQuery(benchQuery, spread)
  const user = { user_id: userId(subject.owner), user_email: 'x@example.com', user_type: 'user', is_administrator }
  await http.register(queryApi({ db: { query }, actorOf: async () => ({ kind: 'session', ...user }) }))
  const { statusCode, body } = await http.inject(subject.path)
  await http.close()
  if (statusCode !== 200) throw new Error(`${benchQuery.name} got ${statusCode}: ${body}`)
  return scriptOf(statements, benchQuery, spread, ownerName(subject.owner))
}

function scriptOf(statements: readonly Statement[], benchQuery: BenchQuery, spread: Spread, owner: string): Script {
  const { thing } = benchQuery
  const id = thing && idOf(thing, sampleRow)
  const variables: Record<string, string> = {}
  const parameter = (value: unknown): string => {
    if (value === owner) return ownerSql(':owner')
    if (thing !== undefined && value === id) return idSql(thing, ':row')
    const name = `constant_${Object.keys(variables).length}`
    variables[name] = textOf(value)
    return `:${name}`
  }
  const lines = statements.map(
    ({ text, values = [] }) =>
      `${text.replaceAll(/\s+/g, ' ').replaceAll(/\$(\d+)/g, (_, index) => parameter(values[Number(index) - 1]))};`,
  )
  const rowLine = `\\set row random(1, ${rowsOf(benchQuery, spread)})`
  const ownerLine = `\\set owner ${benchQuery.owner ?? ownerOfRowSql(':row', spread)}`
  const protocol = statements.every(({ name }) => name !== undefined) ? 'prepared' : 'extended'
  return { text: [rowLine, ownerLine, ...lines, ''].join('\n'), variables, protocol }
}

function textOf(value: unknown): string {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (value instanceof Date) return value.toISOString()
  throw new Error(`pgbench does not support ${value === null ? 'null' : typeof value} as a parameter`)
}
