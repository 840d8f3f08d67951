// Deliveries that operators send again: the same id and body, and a schedule of retries that begins anew.
import type { Pool } from 'pg'

/** A delivery that is pending again. */
export type Redelivered = {
  readonly id: string
  readonly node: string
  /** It waits until its node is enabled. */
  readonly is_held: boolean
}

/**
 * Makes deliveries due now, whatever their status; a pending one is not doubled, its next attempt comes at once.
 * @param ids of the log; those that are unknown are not among the answers
 */
export async function redeliver(pool: Pool, ids: readonly string[], at: Date): Promise<Redelivered[]> {
  const { rows } = await pool.query<Redelivered>(redeliverSql, [ids, at])
  return rows
}

// Locked in one order, so that two operators do not wait for each other for ever.
const redeliverSql = `
with wanted as (
  select id from webhooks.deliveries where id = any($1::uuid[]) order by id for update
)
update webhooks.deliveries d
set status = 'pending', series_start = attempts, next_attempt_at = $2, sweep_at = $2
from wanted
where d.id = wanted.id
returning d.id, d.node,
  exists (select from webhooks.nodes n where n.name = d.node and n.disabled_at is not null) as is_held`

/** Which of these deliveries there are, in the same words as `redeliver`, with nothing changed. */
export async function findDeliveries(pool: Pool, ids: readonly string[]): Promise<Redelivered[]> {
  const { rows } = await pool.query<Redelivered>(findSql, [ids])
  return rows
}

const findSql = `
select id, node,
  exists (select from webhooks.nodes n where n.name = d.node and n.disabled_at is not null) as is_held
from webhooks.deliveries d where id = any($1::uuid[])`

/** Deliveries of a node that ended as failed, by the time of their last attempt. */
export type FailedRange = {
  readonly node: string
  readonly since: Date | undefined
  /** What fails later is not of the range: it may be the redelivery itself. */
  readonly until: Date
}

export async function countFailed(pool: Pool, { node, since, until }: FailedRange): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `select count(*)::int as count from webhooks.deliveries where ${failedRange}`,
    [node, since ?? null, until],
  )
  return rows[0]?.count ?? 0
}

/** The ids of those that failed first. */
export async function failedIds(pool: Pool, { node, since, until }: FailedRange, limit: number): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `select id from webhooks.deliveries where ${failedRange} order by last_attempt_at, id limit $4`,
    [node, since ?? null, until, limit],
  )
  return rows.map(({ id }) => id)
}

const failedRange = `
  status = 'failed' and node = $1 and last_attempt_at >= coalesce($2::timestamptz, '-infinity') and last_attempt_at <= $3`
