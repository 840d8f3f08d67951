// Ends that a node gets nothing because it answered that it is gone.
import type { Pool } from 'pg'
import { listedStatuses } from './deliveryList.ts'

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

// Deliveries that operators send again: the same id and body, and a schedule of retries that begins anew.

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
export function redeliver(pool: Pool, ids: readonly string[], at: Date): Promise<Redelivered[]> {
  return requeueDeliveries(pool, ids, at, listedStatuses)
}

/** Does the same with those that are failed still: another operator may have sent them again meanwhile. */
export function redeliverFailed(pool: Pool, ids: readonly string[], at: Date): Promise<Redelivered[]> {
  return requeueDeliveries(pool, ids, at, ['failed'])
}

async function requeueDeliveries(
  pool: Pool,
  ids: readonly string[],
  at: Date,
  statuses: readonly string[],
): Promise<Redelivered[]> {
  const { rows } = await pool.query<Redelivered>(redeliverSql, [ids, at, statuses])
  return rows
}

// Locked in one order, as the worker does it: else two of them would wait for each other for ever.
const redeliverSql = `
with wanted as (
  select id from webhooks.deliveries where id = any($1::uuid[]) and status = any($3::text[]) order by id for update
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

/**
 * What there is of a node.
 * @returns how many failed, and when the last one of them did by the clock of the worker, which may not be ours; nothing
 * when no node of this name ever was configured
 */
export async function findFailed(
  pool: Pool,
  { node, since }: Omit<FailedRange, 'until'>,
): Promise<FoundFailed | undefined> {
  const { rows } = await pool.query<FoundFailed>(findFailedSql, [node, since ?? null])
  return rows[0]
}

export type FoundFailed = { readonly count: number; readonly until: Date | null; readonly is_held: boolean }

// A `Date` ends with the millisecond, and Postgres does not.
const findFailedSql = `
select count(d.id)::int as count, max(d.last_attempt_at) + interval '1 millisecond' as until, n.disabled_at is not null as is_held
from webhooks.nodes n
left join webhooks.deliveries d on d.status = 'failed' and d.node = n.name
  and d.last_attempt_at >= coalesce($2::timestamptz, '-infinity')
where n.name = $1
group by n.name`

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
