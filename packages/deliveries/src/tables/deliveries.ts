// The deliveries table: what is to be sent, and what was tried.
import type { Pool } from 'pg'
import type { QueuedAttempt } from '../queue/jobs.ts'
import { readCheckpoint } from '../subscriptions/checkpoint.ts'
import { dueDeliveries } from './dueDelivery.ts'
import { type AttemptResult, finishAttempts } from './finishAttempt.ts'
import { batched } from './gathered.ts'
import { type MappedBatch, recordDeliveries } from './recordBatch.ts'

/** One try of one delivery; the number fences it against every other try. */
export type AttemptRef = { readonly deliveryId: string; readonly attempt: number }

export type Deliveries = ReturnType<typeof createDeliveries>

/** A row that the sweep has just handed out is left alone this long. */
const requeueAfterMs = 15_000

/** How many tests of one endpoint are sent at once. Real deliveries have the other places of every worker to themselves. */
const maxConcurrentTests = 10
const maxTestsScanned = 10_000

/** What the workers of all nodes ask for and record at the same time goes together. */
const batching = { mostTogether: 100, patienceMs: 250, keyOf: ({ deliveryId }: AttemptRef) => deliveryId }

export function createDeliveries(pool: Pool) {
  return {
    /** The position up to which the log is mapped, if it ever was. */
    checkpoint: (name: string) => readCheckpoint(pool, name),

    record: (batch: MappedBatch) => recordDeliveries(pool, batch),

    /** What an attempt has to send, if anything: see `dueDeliveries`. */
    due: batched({ ...batching, run: (attempts: readonly AttemptRef[]) => dueDeliveries(pool, attempts) }),

    /** Records how an attempt ended, if nothing was recorded yet: see `finishAttempts`. */
    finish: batched({ ...batching, run: (results: readonly AttemptResult[]) => finishAttempts(pool, results) }),

    /**
     * Hands out pending rows that should have been tried by now, oldest first; each at most once in a while. Those of a
     * disabled node are held. Tests are handed out by `overdueTests`.
     */
    async overdue(node: string, at: Date, limit: number): Promise<AttemptRef[]> {
      const { rows } = await pool.query<{ id: string; attempt: number }>({
        name: 'overdue-deliveries',
        text: overdueSql,
        values: [node, at, limit, new Date(at.getTime() + requeueAfterMs)],
      })
      return rows.map(({ id, attempt }) => ({ deliveryId: id, attempt }))
    },

    /**
     * Hands out a few tests, of each user in turn, however many are waiting. Those that are being sent count until they are
     * finished.
     * @param queuedBy takes those that should have a job by then: later than `at` for tests that were just recorded
     */
    async overdueTests(node: string, at: Date, queuedBy = at): Promise<QueuedAttempt[]> {
      const { rows } = await pool.query<{ id: string; attempt: number }>({
        name: 'overdue-tests',
        text: overdueTestsSql,
        values: [node, at, maxConcurrentTests, new Date(at.getTime() + requeueAfterMs), queuedBy],
      })
      return rows.map(({ id, attempt }) => ({ deliveryId: id, attempt, delayMs: 0, isTest: true }))
    },
  }
}

const overdueSql = `
update webhooks.deliveries set sweep_at = $4
where id in (
  select id from webhooks.deliveries
  where node = $1 and status = 'pending' and not is_test and sweep_at <= $2
    and not exists (select from webhooks.nodes where name = $1 and disabled_at is not null)
  order by sweep_at
  limit $3
  for update skip locked
)
returning id, attempts + 1 as attempt`

// A retry is made by the job that waits for it, so that only those which are due by now count.
const overdueTestsSql = `
update webhooks.deliveries set sweep_at = $4
where id in (
  select id from webhooks.deliveries
  where id in (
    select id from (
      select id, created_at, row_number() over (partition by user_id order by created_at, id) as turn from (
        select id, created_at, user_id from webhooks.deliveries
        where node = $1 and is_test and status = 'pending' and next_attempt_at <= $2
        order by created_at, id
        limit ${maxTestsScanned}
      ) as due
    ) as queued
    order by turn, created_at, id
    limit $3
  ) and status = 'pending' and sweep_at <= $5
    and not exists (select from webhooks.nodes where name = $1 and disabled_at is not null)
  for update skip locked
)
returning id, attempts + 1 as attempt`
