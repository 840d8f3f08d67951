// The partitions of the finished deliveries: created ahead, one for each day, and dropped when they are old.
import { setTimeout as sleep } from 'node:timers/promises'
import { inTransaction } from '@paylog/runtime/postgres/transaction'
import type { Logger } from '@paylog/runtime/telemetry/log'
import type { Pool } from 'pg'

/** A worker that cannot create partitions for this long can record nothing more. */
const daysAhead = 7
const maintainEveryMs = 3_600_000
const retryAfterMs = 60_000
/** While clocks differ. */
const compareAfterMs = 20_000
/** While the drop waits for its lock, it blocks deliveries. */
const lockTimeoutMs = 200
const beginBriefly = `begin; set local lock_timeout = ${lockTimeoutMs}`
const removedAtOnce = 250
/** The index of a day takes some seconds. */
const indexTimeoutMs = 600_000

/** Creates the partitions from today on, by the clock of the database. Blocks no query. */
export async function createPartitions(pool: Pool): Promise<void> {
  await pool.query(
    `select webhooks.create_partitions(today, today + ${daysAhead}) from (select (now() at time zone 'UTC')::date) as d (today)`,
  )
}

/**
 * Gives the partitions of past days the index by which an erasure finds its deliveries. The present day has none, because each
 * delivery would pay for it: erasures read that day's partition as a whole.
 * @returns the names of the partitions that got it
 */
export async function indexPastDays(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(unindexedSql)
  const begin = `${beginBriefly}; set local statement_timeout = ${indexTimeoutMs}`
  for (const { name } of rows) {
    const text = `create index if not exists ${name}_keys on webhooks.${name} using gin (key_ids)`
    await inTransaction(pool, (client) => client.query(text), begin)
  }
  return rows.map(({ name }) => name)
}

const unindexedSql = `
select relname as name from pg_inherits join pg_class on oid = inhrelid
where inhparent = 'webhooks.finished_deliveries'::regclass
  and to_date(right(relname, 8), 'YYYYMMDD') < (now() at time zone 'UTC')::date
  and to_regclass('webhooks.' || relname || '_keys') is null
order by relname`

/**
 * Drops the partitions of days that have been over for longer than `keepMs`, oldest first, each in a transaction.
 * @returns the names of the dropped partitions
 * @throws when a partition stays locked for 200 ms; deliveries continue meanwhile
 */
export async function dropOldPartitions(pool: Pool, keepMs: number): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(oldSql, [keepMs])
  for (const { name } of rows)
    await inTransaction(pool, (client) => client.query(`drop table if exists webhooks.${name}`), beginBriefly)
  return rows.map(({ name }) => name)
}

// The name contains the day, and sorts by it.
const oldSql = `
select relname as name from pg_inherits join pg_class on oid = inhrelid
where inhparent = 'webhooks.finished_deliveries'::regclass
  and to_date(right(relname, 8), 'YYYYMMDD') + 1 <= (now() - make_interval(secs => $1::float8 / 1000)) at time zone 'UTC'
order by relname`

/**
 * Removes tests that are still pending, of endpoints that are paused or no longer configured. Real deliveries are kept at any
 * age.
 * @returns how many; more may be left
 */
export async function removePendingTests(pool: Pool, keepMs: number): Promise<number> {
  const { rowCount } = await pool.query(removeTestsSql, [keepMs])
  return rowCount ?? 0
}

const oldTestsSql = `
select id from webhooks.deliveries
where is_test and greatest(created_at, last_attempt_at, next_attempt_at) < now() - make_interval(secs => $1::float8 / 1000)`

const removeTestsSql = `
delete from webhooks.deliveries where id in (
  ${oldTestsSql}
  limit ${removedAtOnce}
  for update skip locked
)`

/** Whether there is something that is kept long enough by the clock of the database. */
async function isSomethingOld(pool: Pool, keepMs: number): Promise<boolean> {
  const { rows } = await pool.query<{ found: boolean }>(
    `select exists (${oldSql}) or exists (${oldTestsSql}) as found`,
    [keepMs],
  )
  return rows[0]?.found === true
}

/**
 * Creates partitions ahead, indexes those of past days and removes old ones, now and every hour, until the signal aborts. After an error it tries again in
 * a minute.
 * @param options `keepMs` is how long deliveries are kept after their end, up to a day longer; 0 keeps them for ever. `clock`:
 *   nothing is removed while clocks differ
 */
export async function maintainPartitions(options: {
  readonly pool: Pool
  readonly clock: { readonly agrees: () => Promise<boolean> }
  readonly keepMs: number
  readonly signal: AbortSignal
  readonly log: Logger
}): Promise<void> {
  const { pool, clock, keepMs, signal, log } = options
  while (!signal.aborted) {
    let pauseMs = maintainEveryMs
    try {
      await createPartitions(pool)
      const isOld = keepMs > 0 && (await isSomethingOld(pool, keepMs))
      if (isOld && !(await clock.agrees())) pauseMs = compareAfterMs
      else if (isOld) {
        const partitions = await dropOldPartitions(pool, keepMs)
        if (partitions.length > 0) log.info({ partitions }, 'removed old deliveries')
        while ((await removePendingTests(pool, keepMs)) === removedAtOnce && !signal.aborted);
      }
      await indexPastDays(pool)
    } catch (error) {
      log.warn({ err: error }, 'could not create, index or remove partitions of finished deliveries, trying again')
      pauseMs = retryAfterMs
    }
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined)
  }
}
