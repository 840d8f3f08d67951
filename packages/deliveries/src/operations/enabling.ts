// Ends that a node gets nothing because it answered that it is gone.
import type { Pool } from 'pg'

export type EnabledEndpoint = {
  /** Since when it was disabled; `null` when it was not. */
  readonly disabled_at: Date | null
  /** What was held, and is due now. */
  readonly held: number
}

/**
 * Enables a node, and makes what waits for it due now, with a schedule of retries that begins anew.
 * @returns nothing when no node of this name ever was configured
 */
export async function enableEndpoint(pool: Pool, node: string, at: Date): Promise<EnabledEndpoint | undefined> {
  const { rows } = await pool.query<EnabledEndpoint>(enableSql, [node, at])
  return rows[0]
}

// What is overdue already is found by the sweep as it is: a long backlog is not written anew. Deliveries are locked before
// their node, and in the order of their ids, as the worker does it when it records attempts: neither waits for the other
// for ever.
const enableSql = `
with due as materialized (
  select d.id from webhooks.deliveries d
  where d.node = $1 and d.status = 'pending'
    and (d.attempts > d.series_start or d.sweep_at > $2)
    and exists (select from webhooks.nodes where name = $1 and disabled_at is not null)
  order by d.id for update
), found as (
  select name, disabled_at from webhooks.nodes where name = $1 and (select count(*) from due) >= 0 for update
), enabled as (
  update webhooks.nodes n set disabled_at = null from found
  where n.name = found.name and found.disabled_at is not null
  returning n.name
), begun_anew as (
  update webhooks.deliveries d set series_start = attempts, next_attempt_at = $2, sweep_at = $2
  from due, enabled
  where d.id = due.id
)
select disabled_at,
  case when disabled_at is null then 0 else (
    select count(*)::int from webhooks.deliveries d where d.node = found.name and d.status = 'pending'
  ) end as held
from found`
