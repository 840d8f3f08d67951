// Removes old finished deliveries, which bounds the tables. Pending ones are kept at any age, except tests.
import { setTimeout as sleep } from 'node:timers/promises'
import { lockKey } from '@paylog/runtime/postgres/lock'
import type { Logger } from '@paylog/runtime/telemetry/log'
import type { Pool } from 'pg'

const cleanEveryMs = 10 * 60_000
/** Small enough to hold locks for milliseconds only. */
const batchSize = 250
const pauseMs = 200

export type Retention = {
  /**
   * Removes the oldest deliveries that ended before this time: a batch of succeeded ones, a batch of failed ones, and a
   * batch of tests pending since then.
   * @returns how many were removed; 0 also while another worker is removing
   */
  removeBatch(before: Date): Promise<number>
  run(signal: AbortSignal): Promise<void>
}

/** @param deps `keepMs` is how long deliveries are kept after their end; 0 keeps them for ever */
export function createRetention(deps: {
  readonly pool: Pool
  readonly keepMs: number
  readonly now: () => Date
  readonly log: Logger
}): Retention {
  const { pool, keepMs, now, log } = deps

  async function removeBatch(before: Date): Promise<number> {
    const { rows } = await pool.query<{ removed: number }>({
      name: 'remove-deliveries',
      text: removeSql,
      values: [before, batchSize, lockKey('webhooks-retention')],
    })
    return rows[0]?.removed ?? 0
  }

  async function removeAll(signal: AbortSignal): Promise<void> {
    const before = new Date(now().getTime() - keepMs)
    let total = 0
    for (let removed = 1; removed > 0 && !signal.aborted; total += removed) {
      removed = await removeBatch(before)
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined)
    }
    if (total > 0) log.info({ deliveries: total, before }, 'removed old deliveries')
  }

  return {
    removeBatch,
    async run(signal) {
      while (keepMs > 0 && !signal.aborted) {
        await removeAll(signal).catch((error: unknown) => log.warn({ err: error }, 'could not remove old deliveries'))
        await sleep(cleanEveryMs, undefined, { signal }).catch(() => undefined)
      }
    },
  }
}

/**
 * Exported so that a test can check its plan. Finished deliveries were attempted, so the indexes of the webhook log, one
 * for successes and one for failures, find the oldest. The lock lasts as long as the statement.
 */
export const removeSql = `
with lock as materialized (select pg_try_advisory_xact_lock($3) as held),
arrived as (${oldestSql('last_error is null')}),
failed as (${oldestSql('last_error is not null')}),
tests as (
  select id from webhooks.deliveries
  where status = 'pending' and is_test and greatest(created_at, last_attempt_at, next_attempt_at) < $1
    and (select held from lock)
  limit $2
  for update skip locked
),
removed as (
  delete from webhooks.deliveries
  where id in (select id from arrived union all select id from failed union all select id from tests) returning id
), attempts as (
  delete from webhooks.attempts where delivery_id in (select id from removed)
)
select count(*)::int as removed from removed`

function oldestSql(kind: string): string {
  return `
  select id from webhooks.deliveries
  where attempts > 0 and ${kind} and status <> 'pending' and created_at < $1 and last_attempt_at < $1
    and (select held from lock)
  order by created_at, id
  limit $2
  for update skip locked`
}
