// The deliveries table: what is to be sent, and what was tried.
import type { Pool } from 'pg'
import { readCheckpoint } from '../subscriptions/checkpoint.ts'
import { dueDeliveries } from './dueDelivery.ts'
import { type AttemptResult, finishAttempts } from './finishAttempt.ts'
import { gathered } from './gathered.ts'
import { type MappedBatch, recordBatch } from './recordBatch.ts'

/** One try of one delivery; the number fences it against every other try. */
export type AttemptRef = { readonly deliveryId: string; readonly attempt: number }

export type Deliveries = ReturnType<typeof createDeliveries>

/** A row that the sweep has just handed out is left alone this long. */
const resweepMs = 15_000

/** What the workers of all nodes ask for and record at the same time goes together. */
const together = { mostTogether: 100, patienceMs: 250, keyOf: ({ deliveryId }: AttemptRef) => deliveryId }

export function createDeliveries(pool: Pool) {
  return {
    /** The position up to which the log is mapped, if it ever was. */
    checkpoint: (name: string) => readCheckpoint(pool, name),

    record: (batch: MappedBatch) => recordBatch(pool, batch),

    /** What an attempt has to send, if anything: see `dueDeliveries`. */
    due: gathered({ ...together, run: (attempts: readonly AttemptRef[]) => dueDeliveries(pool, attempts) }),

    /** Records how an attempt ended, if nothing was recorded yet: see `finishAttempts`. */
    finish: gathered({ ...together, run: (results: readonly AttemptResult[]) => finishAttempts(pool, results) }),

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
