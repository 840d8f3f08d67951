// Captures what the API does for a query: the statement that it sends, as a pgbench script and for the bare route, and
// the route's response.

import { allRights, noRights } from '@paylog/domain/rights'
import { queryApi } from '@paylog/queries/queryApi'
import { createHttp } from '@paylog/runtime/http/http'
import type { Queryable } from '@paylog/runtime/postgres/runQuery'
import type { Logger } from '@paylog/runtime/telemetry/log'
import type { FastifyRequest } from 'fastify'
import type { BareRoute } from './bareRoutes.ts'
import { type BenchQuery, isProductQuery, rowsOf, subjectOf } from './benchQueries.ts'
import { idOf, idSql, owner as ownerName, ownerOfRowSql, ownerSql, type Spread, userId } from './owners.ts'

export type Script = {
  readonly text: string
  /** Parameters of the caller, besides the random ones. */
  readonly variables: Readonly<Record<string, string>>
  /** Whether the API uses a named prepared statement, or plans each time. */
  readonly protocol: 'prepared' | 'extended'
}

type Statement = { readonly name?: string; readonly text: string; readonly values?: readonly unknown[] }

const sampleRow = 1

/**
 * Calls the route and records its statement, so that nothing is copied by hand.
 * @throws Error when the response is not 200, or the route sends not exactly one statement
 */
export async function sameSql(
  benchQuery: BenchQuery,
  { db, spread, log }: { readonly db: Queryable; readonly spread: Spread; readonly log: Logger },
): Promise<{ readonly script: Script; readonly bareRoute: BareRoute }> {
  const statements: Statement[] = []
  const subject = subjectOf(sampleRow, benchQuery, spread)
  const query = new Proxy(db.query, {
    apply: (target, _, [statement]) => {
      statements.push(statement)
      return Reflect.apply(target, db, [statement])
    },
  })
  const http = createHttp({ log })
  const routes: FastifyRequest['routeOptions'][] = []
  http.addHook('onRequest', async ({ routeOptions }) => void routes.push(routeOptions))
  const granted = isProductQuery(benchQuery, spread) ? allRights : noRights
  const user = { user_id: userId(subject.owner), user_email: 'x@example.com', user_type: 'user', ...granted }
  await http.register(queryApi({ db: { query }, hasAdministratorLists: true, actorOf: async () => ({ kind: 'session', ...user }) }))
  const { statusCode, body } = await http.inject(subject.path)
  await http.close()
  if (statusCode !== 200) throw new Error(`${benchQuery.name} got ${statusCode}: ${body}`)
  const [statement, ...more] = statements
  if (statement === undefined || more.length > 0)
    throw new Error(`${benchQuery.name} sends ${statements.length} queries`)
  const id = benchQuery.thing && idOf(benchQuery.thing, sampleRow)
  const owner = ownerName(subject.owner)
  const [route] = routes
  const responses: unknown = route?.schema?.response
  return {
    script: scriptOf(statement, benchQuery, spread, { owner, id }),
    bareRoute: {
      url: route?.url ?? '',
      responses: Object(responses),
      sample: JSON.parse(body),
      statement: {
        ...statement,
        values: (statement.values ?? []).map((value) => (value === owner ? 'owner' : value === id ? 'id' : { value })),
      },
    },
  }
}

function scriptOf(
  { name, text, values = [] }: Statement,
  benchQuery: BenchQuery,
  spread: Spread,
  { owner, id }: { readonly owner: string; readonly id: string | undefined },
): Script {
  const variables: Record<string, string> = {}
  const parameter = (value: unknown): string => {
    if (value === owner) return ownerSql(':owner')
    if (benchQuery.thing !== undefined && value === id) return idSql(benchQuery.thing, ':row')
    const name = `constant_${Object.keys(variables).length}`
    variables[name] = textOf(value)
    return `:${name}`
  }
  const oneLine = text.replaceAll(/--.*/g, '').replaceAll(/\s+/g, ' ')
  const sql = oneLine.replaceAll(/\$(\d+)/g, (_, index) => parameter(values[Number(index) - 1]))
  const rowLine = `\\set row random(1, ${rowsOf(benchQuery, spread)})`
  const ownerLine = `\\set owner ${benchQuery.owner ?? ownerOfRowSql(':row', spread)}`
  const protocol = name === undefined ? 'extended' : 'prepared'
  return { text: [rowLine, ownerLine, `${sql};`, ''].join('\n'), variables, protocol }
}

function textOf(value: unknown): string {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (value instanceof Date) return value.toISOString()
  throw new Error(`pgbench does not support ${value === null ? 'null' : typeof value} as a parameter`)
}
