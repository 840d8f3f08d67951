// The deliveries table: what is to be sent, and what was tried.
import type { Pool } from 'pg'
import { readCheckpoint } from '../subscriptions/checkpoint.ts'
import { graceMs, type MappedBatch, recordBatch } from './recordBatch.ts'
import { storable } from './storable.ts'

/** One try of one delivery; the number fences it against every other try. */
export type AttemptRef = { readonly deliveryId: string; readonly attempt: number }

export type AttemptResult = AttemptRef & {
  readonly at: Date
  readonly ms: number
  readonly httpStatus: number | null
  /** The error class; `null` for a success. */
  readonly error: string | null
  readonly responseBody: string | null
  readonly status: 'pending' | 'succeeded' | 'failed'
  /** Set exactly when the delivery stays pending. */
  readonly nextAttemptAt: Date | null
}

export type Deliveries = ReturnType<typeof createDeliveries>

/** A row that the sweep has just handed out is left alone this long. */
const resweepMs = 15_000

export function createDeliveries(pool: Pool) {
  return {
    /** The position up to which the log is mapped, if it ever was. */
    checkpoint: (name: string) => readCheckpoint(pool, name),

    record: (batch: MappedBatch) => recordBatch(pool, batch),

    /** What an attempt has to send; nothing when it was made already, or the delivery is finished. */
    async due({ deliveryId, attempt }: AttemptRef): Promise<{ event: string; body: string } | undefined> {
      const { rows } = await pool.query<{ event: string; body: string }>({
        name: 'due-delivery',
        text: `select event, body from webhooks.deliveries where id = $1 and status = 'pending' and attempts = $2`,
        values: [deliveryId, attempt - 1],
      })
      return rows[0]
    },

    /**
     * Records how an attempt ended.
     * @returns false when the same attempt was recorded before (a worker that was thought dead); nothing is changed then
     */
    async finish(result: AttemptResult): Promise<boolean> {
      const { deliveryId, attempt, at, ms, httpStatus, error, responseBody, status, nextAttemptAt } = result
      const sweepAt = new Date((nextAttemptAt ?? at).getTime() + graceMs)
      const { rowCount } = await pool.query({
        name: 'finish-attempt',
        text: finishSql,
        values: [
          deliveryId,
          attempt,
          status,
          nextAttemptAt,
          sweepAt,
          at,
          ms,
          httpStatus,
          error,
          responseBody === null ? null : storable(responseBody),
        ],
      })
      return rowCount === 1
    },

    /** Hands out pending rows that should have been tried by now, oldest first; each at most once in a while. */
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

const finishSql = `
with finished as (
  update webhooks.deliveries
  set attempts = $2, status = $3, next_attempt_at = $4, sweep_at = $5,
      last_attempt_at = $6, last_http_status = $8, last_error = $9
  where id = $1 and status = 'pending' and attempts = $2 - 1
  returning id
)
insert into webhooks.attempts (delivery_id, attempt, at, ms, http_status, error, response_body)
select id, $2, $6, $7, $8, $9, $10 from finished`

const overdueSql = `
update webhooks.deliveries set sweep_at = $4
where id in (
  select id from webhooks.deliveries
  where node = $1 and status = 'pending' and sweep_at <= $2
  order by sweep_at
  limit $3
  for update skip locked
)
returning id, attempts + 1 as attempt`
