// The state of each endpoint, and how its deliveries went lately, for operators.
import { allOf, defineQuery, type Given, type Parameter, type Queryable } from '@paylog/runtime/postgres/runQuery'
import { type RawBuilder, sql } from 'kysely'
import { webhookViews } from '../tables/views.ts'

/** Counting stops here, which bounds its cost. */
export const maxCounted = 10_000

const endpoints = defineQuery(({ endpoint }: Given<{ readonly endpoint: string | undefined }>) =>
  webhookViews
    .selectFrom('webhooks.backlog as b')
    .select(['b.node as endpoint', 'b.is_configured', 'b.disabled_at', 'b.pending'])
    .select(({ selectFrom }) => [
      'b.oldest_created_at as oldest_pending_at',
      selectFrom(
        selectFrom('webhooks.log as d')
          .select('d.id')
          .whereRef('d.node', '=', 'b.node')
          .where('d.is_pending', '=', sql.lit(false))
          .where('d.error', 'is not', null)
          .limit(sql.lit(maxCounted))
          .as('failed'),
      )
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .$asScalar()
        .$notNull()
        .as('failed'),
    ])
    .where((backlog) => allOf([endpoint && backlog('b.node', '=', endpoint)])),
)
/** `pending` and `failed` are counted up to `maxCounted`. All pending ones are held while the endpoint is paused. */
export type ListedEndpoint = Awaited<ReturnType<typeof endpoints>>[number]

/** All endpoints that were ever configured, or only the named one. */
export async function listEndpoints(db: Queryable, endpoint?: string): Promise<ListedEndpoint[]> {
  const rows = await endpoints(db, { endpoint })
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

const newestOf = (condition: RawBuilder<unknown>, since: Parameter<Date>) => sql`(
    select d.created_at, d.last_error, (d.attempts_made -> -1 ->> 1)::float8 as ms
    from webhooks.finished_deliveries d
    where d.node = nodes.name and d.last_error ${condition} and d.ended_at >= ${since}::timestamptz
    order by d.created_at desc, d.id desc limit ${sql.lit(maxRecent)}
  )`

const activity = defineQuery(
  ({ since }: Given<{ readonly since: Date }>) => sql<EndpointActivity>`
select nodes.name as endpoint, recent.* from webhooks.nodes, lateral (
  select count(*) as deliveries, count(*) filter (where last_error is null) as succeeded,
    percentile_disc(0.5) within group (order by ms)::int as p50_ms,
    percentile_disc(0.95) within group (order by ms)::int as p95_ms
  from (
    select * from (${newestOf(sql`is null`, since)} union all ${newestOf(sql`is not null`, since)}) as found
    order by created_at desc limit ${sql.lit(maxRecent)}
  ) as newest
) as recent
where recent.deliveries > 0`,
  { customPlan: true },
)

/**
 * The figures of each endpoint with deliveries that ended within the last 24 hours.
 * @param now by the clock of the database, about
 */
export const recentActivity = (db: Queryable, now: Date): Promise<EndpointActivity[]> =>
  activity(db, { since: new Date(now.getTime() - recentHours * 3_600_000) })
