// What is wrong with the deliveries of each endpoint, for operators.
import { defineQuery, type Given, type Queryable } from '@paylog/runtime/postgres/runQuery'
import { sql } from 'kysely'
import { maxCounted } from './endpointList.ts'

/** Of a configured endpoint. Tests do not count. */
export type EndpointTroubles = {
  readonly endpoint: string
  /** Since when it is paused. */
  readonly disabled_at: string | null
  /** Unfinished deliveries, all of which wait while it is paused. */
  readonly pending: number
  /** Deliveries whose next attempt is due, counted up to 1000, and since when the oldest is. */
  readonly due: number
  readonly oldest_due_at: string | null
  /** Deliveries that failed for good and were not sent again, and when the last one did. */
  readonly failed: number
  readonly last_failed_at: string | null
  /** Of the oldest thousand unfinished ones, those whose attempts have failed for some time, and since when. */
  readonly retried: number
  readonly retried_since: string | null
}

/** Enough to see whether any fails. */
const maxOldest = 1_000

const troubles = defineQuery(
  ({ failedSince, retriedBefore }: Given<{ readonly failedSince: Date; readonly retriedBefore: Date }>) =>
    sql<EndpointTroubles>`
select name as endpoint, backlog.disabled_at, pending, due, oldest_due_at, failed, last_failed_at, retried, retried_since
from webhooks.nodes join webhooks.backlog on node = name, lateral (
  select count(*) as failed, max(ended_at) as last_failed_at from (
    select ended_at from webhooks.finished_deliveries d
    where d.node = name and last_error is not null and not is_test and ended_at >= ${failedSince}::timestamptz
    order by d.created_at desc, d.id desc limit ${sql.lit(maxCounted)}
  ) as newest
) as failures, lateral (
  select count(*) as retried, min(since) as retried_since from (
    select to_timestamp((attempts_made -> series_start ->> 0)::float8 / 1000) as since from (
      select * from webhooks.deliveries d where d.node = name order by d.created_at, d.id limit ${sql.lit(maxOldest)}
    ) as oldest
    where attempts > series_start and last_error is not null and not is_test
  ) as failing
  where since < ${retriedBefore}::timestamptz
) as retries
where nodes.is_configured`,
  { customPlan: true },
)

/**
 * The troubles of each endpoint that the worker has.
 * @param since `failedSince`: earlier failures do not count; `retriedBefore`: nor do deliveries that have been failing since later
 */
export const endpointTroubles = (
  db: Queryable,
  since: { readonly failedSince: Date; readonly retriedBefore: Date },
): Promise<EndpointTroubles[]> => troubles(db, since)
