// Enables paused endpoints and sends deliveries again, on behalf of an operator.
import type { Pool } from 'pg'
import { sourceColumns } from '../tables/recordDeliveries.ts'

type Db = Pick<Pool, 'query'>

export type EnabledEndpoint = {
  /** Since when the endpoint was paused; `null` if it was not. */
  readonly disabled_at: Date | null
  /** How many deliveries were held and are due now. */
  readonly held: number
}

/**
 * Enables an endpoint, makes its held deliveries due now and restarts their retry schedule.
 * @returns `undefined` when no endpoint of this name was ever configured
 */
export async function enableEndpoint(db: Db, endpoint: string, at: Date): Promise<EnabledEndpoint | undefined> {
  const { rows } = await db.query<EnabledEndpoint>(enableSql, [endpoint, at])
  return rows[0]
}

// Deliveries that were never attempted stay unchanged, and a long backlog is not rewritten. Deliveries are locked before their
// endpoint and in the order of their ids, as the worker does when it records attempts, which prevents deadlocks.
const enableSql = `
with due as materialized (
  select d.id from webhooks.deliveries d
  where d.node = $1 and d.attempts > d.series_start
    and exists (select from webhooks.nodes where name = $1 and disabled_at is not null)
  order by d.id for update
), found as (
  select name, disabled_at from webhooks.nodes where name = $1 and (select count(*) from due) >= 0 for update
), enabled as (
  update webhooks.nodes n set disabled_at = null from found
  where n.name = found.name and found.disabled_at is not null
  returning n.name
), restarted as (
  update webhooks.deliveries d set series_start = attempts, next_attempt_at = $2
  from due, enabled
  where d.id = due.id
)
select disabled_at,
  case when disabled_at is null then 0 else (
    select count(*)::int from webhooks.deliveries d where d.node = found.name
  ) end as held
from found`

/** A delivery that is pending again. */
export type Redelivered = {
  readonly id: string
  readonly endpoint: string
  /** Whether it waits because its endpoint is paused. */
  readonly is_held: boolean
}

/**
 * Makes deliveries of any status due now, with the same id and body and a new retry schedule. A pending delivery is not
 * duplicated: its next attempt happens at once.
 * @param ids unknown ids are missing in the result
 */
export async function redeliver(db: Db, ids: readonly string[], at: Date): Promise<Redelivered[]> {
  const found = new Map<string, Redelivered>()
  // A statement misses a delivery that moves between the tables while it waits for its lock: it is no longer in the one, and not
  // yet in the other in the statement's snapshot. Reading both in one snapshot misses none.
  for (let left = ids; left.length > 0; ) {
    const { rows } = await db.query<Redelivered>(redeliverSql, [left, at])
    for (const each of rows) found.set(each.id, each)
    const existing = rows.length < left.length ? await findDeliveries(db, left) : []
    left = existing.flatMap(({ id }) => (found.has(id) ? [] : [id]))
  }
  return [...found.values()]
}

const isHeld = 'exists (select from webhooks.nodes n where n.name = d.node and n.disabled_at is not null) as is_held'
const kept = `${sourceColumns}, attempts, attempts_made, last_attempt_at, last_http_status, last_error`

/** Finished deliveries move back to the work list. @param finished which of them */
const movedSql = (finished: string) => `
finished as (
  delete from webhooks.finished_deliveries where ${finished} returning *
), moved as (
  insert into webhooks.deliveries (${kept}, series_start, next_attempt_at)
  select ${kept}, attempts, $2 from finished
  on conflict (id) do nothing
  returning id, node
)`

// Locks in the same order as the worker, which prevents deadlocks.
const redeliverSql = `
with wanted as (
  select id from webhooks.deliveries where id = any($1::uuid[]) order by id for update
), again as (
  update webhooks.deliveries d set series_start = attempts, next_attempt_at = $2
  from wanted where d.id = wanted.id
  returning d.id, d.node
), ${movedSql('id = any($1::uuid[])')}
select id, node as endpoint, ${isHeld} from (select * from again union all select * from moved) as d`

/** Finds the existing ones of these deliveries without changing them. Same result as `redeliver`. */
export async function findDeliveries(db: Db, ids: readonly string[]): Promise<Redelivered[]> {
  const { rows } = await db.query<Redelivered>(findSql, [ids])
  return rows
}

const findSql = `
select id, node as endpoint, ${isHeld} from webhooks.all_deliveries d where id = any($1::uuid[])`

/** Failed deliveries of an endpoint, by the time of their last attempt. */
export type FailedRange = {
  readonly endpoint: string
  readonly since: Date | undefined
  /** Excludes later failures, which may come from the redelivery itself. */
  readonly until: Date
}

export type FoundFailed = { readonly count: number; readonly until: Date | null; readonly is_held: boolean }

/**
 * Counts the failed deliveries of an endpoint.
 * @returns their number, and when the last one failed by the worker's clock; `undefined` when no endpoint of this name was
 * ever configured
 */
export async function findFailed(
  pool: Pool,
  { endpoint, since }: Omit<FailedRange, 'until'>,
): Promise<FoundFailed | undefined> {
  const { rows } = await pool.query<FoundFailed>(findFailedSql, [endpoint, since ?? null])
  return rows[0]
}

// A `Date` has milliseconds, Postgres microseconds: round up.
const findFailedSql = `
select count(d.id)::int as count, max(d.last_attempt_at) + interval '1 millisecond' as until, n.disabled_at is not null as is_held
from webhooks.nodes n
left join webhooks.finished_deliveries d on d.last_error is not null and d.node = n.name
  and d.last_attempt_at >= coalesce($2::timestamptz, '-infinity')
where n.name = $1
group by n.name`

/** Deliveries that one statement sends again. */
const redeliveryBatch = 500

// In the order in which they failed. Those that another operator redelivers at the same time are skipped, not counted in the limit:
// a batch without rows is the end.
const redeliverFailedSql = `
with ${movedSql(`last_error is not null and id = any (array(
    select id from webhooks.finished_deliveries
    where last_error is not null and node = $1 and last_attempt_at >= coalesce($3::timestamptz, '-infinity')
      and last_attempt_at <= $4
    order by last_attempt_at, id
    limit ${redeliveryBatch}
    for update skip locked
  ))`)}
select id, node as endpoint, ${isHeld} from moved as d`

/**
 * Sends all failed deliveries of an endpoint again, batch by batch: it may be stopped after each, and repeated.
 * @param now the time of each batch
 * @param range from `findFailed`
 */
export async function* redeliverAllFailed(
  pool: Pool,
  { endpoint, since, until }: FailedRange,
  now: () => Date,
): AsyncGenerator<readonly Redelivered[], void> {
  for (;;) {
    // Redelivered ones no longer count as failed, so that the next batch is always the first.
    const { rows } = await pool.query<Redelivered>(redeliverFailedSql, [endpoint, now(), since ?? null, until])
    if (rows.length === 0) return
    yield rows
  }
}
