// The state of each endpoint, and how its deliveries went lately, for operators.
import { allOf, defineQuery, type Given, type Parameter, type Queryable } from '@paylog/runtime/postgres/runQuery'
import { type RawBuilder, sql } from 'kysely'
import { webhookViews } from '../tables/views.ts'

/** Counting stops here, which bounds its cost. */
export const maxCounted = 10_000

/** How an attempt failed. */
export type LastFailure = { readonly at: string; readonly http_status: number | null; readonly error: string }

/** Failed ones are tried again for a while, the oldest first: enough to find one that fails. */
const maxOldest = 1_000

/** Of the newest delivery that arrived. */
const lastSuccess = sql<string | null>`(
  select d.last_attempt_at from webhooks.finished_deliveries d
  where d.node = b.node and d.last_error is null order by d.created_at desc, d.id desc limit 1
)`

/** Of the newest delivery that failed for good, or of one that is tried again. Times as in the other columns. */
const lastFailure = sql<LastFailure | null>`(
  select jsonb_build_object('at', to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'http_status', http_status,
    'error', error)
  from (
    (select d.last_attempt_at as at, d.last_http_status as http_status, d.last_error as error
     from webhooks.finished_deliveries d
     where d.node = b.node and d.last_error is not null order by d.created_at desc, d.id desc limit 1)
    union all
    select last_attempt_at, last_http_status, last_error from (
      select * from webhooks.deliveries d where d.node = b.node order by d.created_at, d.id limit ${sql.lit(maxOldest)}
    ) as oldest
    where last_attempt_at is not null and last_error is not null
  ) as failures
  order by at desc limit 1
)`

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
      lastSuccess.as('last_success_at'),
      lastFailure.as('last_failure'),
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
