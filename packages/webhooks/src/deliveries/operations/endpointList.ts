// The state of each endpoint, and how its deliveries went lately, for operators.
import type { Pool } from 'pg'

export type ListedEndpoint = {
  readonly node: string
  /** Whether the configuration of the last started worker has this endpoint. */
  readonly is_configured: boolean
  readonly disabled_at: Date | null
  /** Counted up to 10 000. All of them are held while the endpoint is paused. */
  readonly pending: number
  /** Counted up to 10 000. */
  readonly failed: number
  readonly oldest_pending_at: Date | null
}

/** Counting stops here, which bounds its cost. */
export const maxCounted = 10_000

/** All endpoints that were ever configured, or only the named one. */
export async function listEndpoints(pool: Pool, node?: string): Promise<ListedEndpoint[]> {
  const { rows } = await pool.query<ListedEndpoint>(endpointsSql, [node ?? null, maxCounted])
  return rows.toSorted((one, other) => one.node.localeCompare(other.node, 'en', { numeric: true }))
}

const endpointsSql = `
select b.node, b.is_configured, b.disabled_at, b.pending, b.oldest_created_at as oldest_pending_at,
  (select count(*)::int from (
    select from webhooks.finished_deliveries d where d.node = b.node and d.last_error is not null limit $2
  ) as failed) as failed
from webhooks.backlog b
where $1::text is null or b.node = $1`

/** Of the newest finished deliveries of an endpoint. */
export type EndpointActivity = {
  readonly node: string
  readonly deliveries: number
  readonly succeeded: number
  /** How long half of the last attempts took at most. */
  readonly p50_ms: number
  readonly p95_ms: number
}

/** The deliveries that the figures of an endpoint come from. */
export const maxRecent = 1_000
export const recentHours = 24

/**
 * The figures of each endpoint with deliveries that ended within the last 24 hours.
 * @param now by the clock of the database, about
 */
export async function recentActivity(pool: Pool, now: Date): Promise<EndpointActivity[]> {
  const { rows } = await pool.query<EndpointActivity>(recentActivitySql, [
    new Date(now.getTime() - recentHours * 3_600_000),
    maxRecent,
  ])
  return rows
}

const newestOf = (condition: string) => `(
    select d.created_at, d.last_error, (d.attempts_made -> -1 ->> 1)::float8 as ms
    from webhooks.finished_deliveries d
    where d.node = nodes.name and d.last_error ${condition} and d.ended_at >= $1::timestamptz
    order by d.created_at desc, d.id desc limit $2
  )`

/** Exported so that a test can check its plan. */
export const recentActivitySql = `
select nodes.name as node, recent.* from webhooks.nodes, lateral (
  select count(*)::int as deliveries, count(*) filter (where last_error is null)::int as succeeded,
    percentile_disc(0.5) within group (order by ms)::int as p50_ms,
    percentile_disc(0.95) within group (order by ms)::int as p95_ms
  from (
    select * from (${newestOf('is null')} union all ${newestOf('is not null')}) as found
    order by created_at desc limit $2
  ) as newest
) as recent
where recent.deliveries > 0`
