// How an attempt ended, on record once.
import type { Pool } from 'pg'
import type { AttemptRef } from './deliveries.ts'
import { graceMs } from './recordBatch.ts'
import { storable } from './storable.ts'

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
  /** The endpoint is gone: its node gets nothing until an operator enables it. The delivery is pending then. */
  readonly disablesNode: boolean
}

/**
 * Records how an attempt ended.
 * @returns false when the same attempt was recorded before (a worker that was thought dead); nothing is changed then
 */
export async function finishAttempt(pool: Pool, result: AttemptResult): Promise<boolean> {
  const { deliveryId, attempt, at, ms, httpStatus, error, responseBody, status, nextAttemptAt, disablesNode } = result
  const sweepAt = new Date((nextAttemptAt ?? at).getTime() + graceMs)
  const { rows } = await pool.query({
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
      disablesNode,
    ],
  })
  return rows.length === 1
}

const finishSql = `
with finished as (
  update webhooks.deliveries
  set attempts = $2, status = $3, next_attempt_at = $4, sweep_at = $5,
      last_attempt_at = $6, last_http_status = $8, last_error = $9
  where id = $1 and status = 'pending' and attempts = $2 - 1
  returning id, node
), attempted as (
  insert into webhooks.attempts (delivery_id, attempt, at, ms, http_status, error, response_body)
  select id, $2, $6, $7, $8, $9, $10 from finished
), disabled as (
  insert into webhooks.nodes as n (name, disabled_at)
  select node, $6 from finished where $11
  on conflict (name) do update set disabled_at = coalesce(n.disabled_at, excluded.disabled_at)
)
select id from finished`
