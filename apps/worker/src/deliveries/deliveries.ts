// The deliveries table: what is to be sent, and what was tried.
import type { Pool } from 'pg'
import { readCheckpoint } from '../subscriptions/checkpoint.ts'
import { dueDelivery } from './dueDelivery.ts'
import { type AttemptResult, finishAttempt } from './finishAttempt.ts'
import { type MappedBatch, recordBatch } from './recordBatch.ts'

/** One try of one delivery; the number fences it against every other try. */
export type AttemptRef = { readonly deliveryId: string; readonly attempt: number }

export type Deliveries = ReturnType<typeof createDeliveries>

/** A row that the sweep has just handed out is left alone this long. */
const resweepMs = 15_000

export function createDeliveries(pool: Pool) {
  return {
    /** The position up to which the log is mapped, if it ever was. */
    checkpoint: (name: string) => readCheckpoint(pool, name),

    record: (batch: MappedBatch) => recordBatch(pool, batch),

    due: (attempt: AttemptRef) => dueDelivery(pool, attempt),

    finish: (result: AttemptResult) => finishAttempt(pool, result),

    /**
     * Hands out pending rows that should have been tried by now, oldest first; each at most once in a while. Those of a
     * disabled node are held.
     */
    async overdue(node: string, at: Date, limit: number): Promise<AttemptRef[]> {
      const { rows } = await pool.query<{ id: string; attempt: number }>({
        name: 'overdue-deliveries',
        text: overdueSql,
        values: [node, at, limit, new Date(at.getTime() + resweepMs)],
      })
      return rows.map(({ id, attempt }) => ({ deliveryId: id, attempt }))
    },
  }
}

const overdueSql = `
update webhooks.deliveries set sweep_at = $4
where id in (
  select id from webhooks.deliveries
  where node = $1 and status = 'pending' and sweep_at <= $2
    and not exists (select from webhooks.nodes where name = $1 and disabled_at is not null)
  order by sweep_at
  limit $3
  for update skip locked
)
returning id, attempts + 1 as attempt`
