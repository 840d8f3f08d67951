// How attempts ended, on record once.
import type { Pool } from 'pg'
import type { AttemptRef } from './deliveries.ts'
import { graceMs } from './recordBatch.ts'
import { toPostgresText } from './storable.ts'

export type AttemptResult = AttemptRef & {
  readonly at: Date
  readonly ms: number
  readonly httpStatus: number | null
  /** The error class; `null` for a success. */
  readonly error: string | null
  readonly responseBody: string | null
  readonly status: 'pending' | 'succeeded' | 'failed'
  /** When it is tried again. `null` for a finished delivery, and for one that is held because its node is disabled. */
  readonly nextAttemptAt: Date | null
  /** The endpoint is gone: its node gets nothing until an operator enables it. The delivery is pending then. */
  readonly disablesNode: boolean
  /** The series of retries that the status was decided by; a redelivery meanwhile has begun another. */
  readonly seriesStart?: number
}

/** `disabledNode`: the node was enabled until this result came. */
export type FinishedAttempt = { readonly disabledNode: boolean }

/**
 * Records how attempts ended, each of another delivery. A held delivery is overdue at once, so that the sweep finds it when
 * its node is enabled.
 * @returns for each, in their order: nothing, with nothing changed, when the same attempt was recorded before (a worker
 * that was thought dead), or when a redelivery began another series of retries meanwhile
 */
export async function finishAttempts(
  pool: Pool,
  results: readonly AttemptResult[],
): Promise<readonly (FinishedAttempt | undefined)[]> {
  const { rows } = await pool.query<{ place: number; disabled_node: boolean }>({
    name: 'finish-attempts',
    text: finishSql,
    values: [JSON.stringify(results.map(resultRow).toSorted(byId))],
  })
  const byPlace = new Map(rows.map(({ place, disabled_node }) => [place, { disabledNode: disabled_node }]))
  return results.map((_, place) => byPlace.get(place))
}

function resultRow(result: AttemptResult, place: number) {
  const { deliveryId, attempt, status, nextAttemptAt, at, ms, httpStatus, error, responseBody, disablesNode } = result
  return {
    place,
    id: deliveryId,
    attempt,
    status,
    next_attempt_at: nextAttemptAt,
    sweep_at: new Date((nextAttemptAt ?? at).getTime() + graceMs),
    at,
    ms,
    http_status: httpStatus,
    error,
    response_body: responseBody === null ? null : toPostgresText(responseBody),
    disables: disablesNode,
    series_start: result.seriesStart,
  }
}

/** Rows are locked in this order, as operators' commands do it: else the two would wait for each other for ever. */
const byId = (one: { readonly id: string }, other: { readonly id: string }) =>
  one.id < other.id ? -1 : one.id > other.id ? 1 : 0

// Written so that rows can only be found by their primary key, one by one: `any (array[…])` cannot be hashed, the attempt's
// condition cannot either, and "not finished" does not offer the planner the index of all that is pending, which under
// load is mostly dead entries. A plan is kept with the statement, whatever becomes of the table.
const finishSql = `
with finished as (
  update webhooks.deliveries d
  set attempts = g.attempt, status = g.status, next_attempt_at = g.next_attempt_at, sweep_at = g.sweep_at,
      last_attempt_at = g.at, last_http_status = g.http_status, last_error = g.error
  from json_to_recordset($1::json) as g (place integer, id uuid, attempt integer, status text,
    next_attempt_at timestamptz, sweep_at timestamptz, at timestamptz, ms integer, http_status integer, error text,
    response_body text, disables boolean, series_start integer)
  where d.id = any (array[g.id]) and d.status not in ('succeeded', 'failed') and g.attempt - d.attempts = 1
    and d.series_start = coalesce(g.series_start, d.series_start)
  returning g.place, g.id, g.attempt, g.at, g.ms, g.http_status, g.error, g.response_body, g.disables, d.node
), attempted as (
  insert into webhooks.attempts (delivery_id, attempt, at, ms, http_status, error, response_body)
  select id, attempt, at, ms, http_status, error, response_body from finished
), disabling as (
  select distinct on (node) place, node, at from finished where disables order by node, place
), disabled as (
  insert into webhooks.nodes as n (name, disabled_at)
  select node, at from disabling
  on conflict (name) do update set disabled_at = excluded.disabled_at where n.disabled_at is null
  returning name
)
select place, place in (select place from disabling join disabled on name = node) as disabled_node from finished`
