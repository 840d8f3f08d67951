// The state of each endpoint, and how its deliveries went lately, for operators.
import { compileQuery, type Given, type Queryable, queriesByShape, runQuery } from '@paylog/runtime/postgres/runQuery'
import { type Expression, sql } from 'kysely'
import { webhookTables } from '../tables/columns.ts'

export type ListedEndpoint = {
  readonly endpoint: string
  /** Whether the configuration of the last started worker has this endpoint. */
  readonly is_configured: boolean
  readonly disabled_at: string | null
  /** Counted up to 10 000. All of them are held while the endpoint is paused. */
  readonly pending: number
  /** Counted up to 10 000. */
  readonly failed: number
  readonly oldest_pending_at: string | null
}

/** Counting stops here, which bounds its cost. */
export const maxCounted = 10_000

const endpointsQuery = queriesByShape((given: Given<{ readonly endpoint?: string | undefined }>, isNamed: boolean) =>
  webhookTables
    .selectFrom('webhooks.backlog as b')
    .select(['b.node as endpoint', 'b.is_configured', 'b.disabled_at', 'b.pending'])
    .select(({ selectFrom }) => [
      'b.oldest_created_at as oldest_pending_at',
      selectFrom(
        selectFrom('webhooks.finished_deliveries as d')
          .select('d.id')
          .whereRef('d.node', '=', 'b.node')
          .where('d.last_error', 'is not', null)
          .limit(sql.lit(maxCounted))
          .as('failed'),
      )
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .$asScalar()
        .$notNull()
        .as('failed'),
    ])
    .$if(isNamed, (all) => all.where('b.node', '=', given((named) => named.endpoint ?? ''))),
)

/** All endpoints that were ever configured, or only the named one. */
export async function listEndpoints(db: Queryable, endpoint?: string): Promise<ListedEndpoint[]> {
  const rows = await runQuery(db, endpointsQuery(endpoint !== undefined), { endpoint })
  return rows.toSorted((one, other) => one.endpoint.localeCompare(other.endpoint, 'en', { numeric: true }))
}

/** Of the newest finished deliveries of an endpoint. */
export type EndpointActivity = {
  readonly endpoint: string
  readonly deliveries: number
  readonly succeeded: number
  /** How long half of the last attempts took at most. */
  readonly p50_ms: number
  readonly p95_ms: number
}

/** The deliveries that the figures of an endpoint come from. */
export const maxRecent = 1_000
export const recentHours = 24

/** The newest deliveries of the endpoint `e` that ended since a time, by how they ended. */
function newestOf(operator: 'is' | 'is not', since: Expression<string>) {
  return webhookTables
    .selectFrom('webhooks.finished_deliveries as d')
    .select(['d.created_at', 'd.last_error', sql<number>`(d.attempts_made -> -1 ->> 1)::float8`.as('ms')])
    .where('d.node', '=', sql.ref<string>('e.name'))
    .where('d.last_error', operator, null)
    .where('d.ended_at', '>=', since)
    .orderBy('d.created_at', 'desc')
    .orderBy('d.id', 'desc')
    .limit(sql.lit(maxRecent))
}

const percentile = (share: number) => sql<number>`percentile_disc(${sql.lit(share)}) within group (order by ms)::int`

/** Exported so that a test can check its plan. */
export const recentActivityQuery = compileQuery((given: Given<Date>) => {
  const since = sql<string>`${given((time) => time)}::timestamptz`
  const succeeded = webhookTables.selectFrom(newestOf('is', since).as('succeeded')).selectAll()
  const failed = webhookTables.selectFrom(newestOf('is not', since).as('failed')).selectAll()
  const newest = webhookTables
    .selectFrom(succeeded.unionAll(failed).as('found'))
    .selectAll()
    .orderBy('created_at', 'desc')
    .limit(sql.lit(maxRecent))
  const figures = webhookTables
    .selectFrom(newest.as('newest'))
    .select(({ fn }) => [
      fn.countAll<number>().as('deliveries'),
      fn.countAll<number>().filterWhere('last_error', 'is', null).as('succeeded'),
      percentile(0.5).as('p50_ms'),
      percentile(0.95).as('p95_ms'),
    ])
  return webhookTables
    .selectFrom('webhooks.nodes as e')
    .innerJoinLateral(figures.as('recent'), (join) => join.onTrue())
    .select(['e.name as endpoint', 'deliveries', 'succeeded', 'p50_ms', 'p95_ms'])
    .where('deliveries', '>', sql.lit(0))
})

/**
 * The figures of each endpoint with deliveries that ended within the last 24 hours.
 * @param now by the clock of the database, about
 */
export const recentActivity = (db: Queryable, now: Date): Promise<EndpointActivity[]> =>
  runQuery(db, recentActivityQuery, new Date(now.getTime() - recentHours * 3_600_000), { customPlan: true })
