// Records the results of attempts: finishes deliveries, or plans their next attempts.
import type { Pool } from 'pg'
import { sourceColumns, toPostgresText } from './recordDeliveries.ts'

export type AttemptResult = {
  readonly deliveryId: string
  /** Its number is a fencing token: results with an outdated number are ignored. */
  readonly attempt: number
  /** The series of retries that decided the status. A redelivery starts another one. */
  readonly seriesStart: number
  readonly at: Date
  readonly ms: number
  readonly httpStatus: number | null
  /** The error class; `null` for a success. */
  readonly error: string | null
  readonly responseBody: string | null
  /** When to try again; `null` finishes the delivery: it succeeded, or failed for good. */
  readonly nextAttemptAt: Date | null
  /** The endpoint is gone and gets nothing until an operator enables it. */
  readonly pausesEndpoint: boolean
}

export type RecordedResult = {
  /** Whether this result paused the endpoint. */
  readonly pausedEndpoint: boolean
  /** As recorded: a redelivery that came meanwhile is not delayed by a failed attempt. */
  readonly nextAttemptAt: Date | null
}

/**
 * Records the results of attempts, each of a different delivery.
 * @param worker the worker that made the attempts
 * @returns for each, in their order; `undefined`, with nothing changed, when the attempt was recorded before, another worker
 *   has claimed the delivery meanwhile because this one was presumed dead, or a redelivery committed while the statement waited
 *   for it: repeat it once
 */
export async function recordResults(
  pool: Pick<Pool, 'query'>,
  worker: string,
  results: readonly AttemptResult[],
): Promise<readonly (RecordedResult | undefined)[]> {
  const { rows } = await pool.query<{ place: number; paused_endpoint: boolean; next_attempt_at: Date | null }>({
    name: 'record-results',
    text: resultsSql,
    values: [JSON.stringify(results.map(resultRow).toSorted(byId)), worker],
  })
  const recorded: (RecordedResult | undefined)[] = results.map(() => undefined)
  for (const { place, paused_endpoint: pausedEndpoint, next_attempt_at: nextAttemptAt } of rows)
    recorded[place] = { pausedEndpoint, nextAttemptAt }
  return recorded
}

function resultRow(result: AttemptResult, place: number) {
  const { deliveryId, attempt, nextAttemptAt, at, ms, httpStatus, error, responseBody, pausesEndpoint } = result
  return {
    place,
    id: deliveryId,
    attempt,
    next_attempt_at: nextAttemptAt ?? undefined,
    at,
    http_status: httpStatus ?? undefined,
    error: error ?? undefined,
    made: [at.getTime(), ms, httpStatus, error, responseBody === null ? null : toPostgresText(responseBody)],
    disables: pausesEndpoint,
    series_start: result.seriesStart,
  }
}

/** Rows are locked in the order of their ids, as in operators' commands, which prevents deadlocks. */
const byId = (one: { readonly id: string }, other: { readonly id: string }) =>
  one.id < other.id ? -1 : one.id > other.id ? 1 : 0

// `any (array[…])` and the conditions on the attempt cannot be hashed, so rows are found by primary key in any plan.
const matches = `d.id = any (array[g.id]) and d.attempts = g.attempt - 1
    and (d.claimed_by is null or d.claimed_by = $2)`

/** Whether a result is the last of its delivery. Without a success it is not if a redelivery started another series meanwhile. */
const isLast = 'g.next_attempt_at is null and (g.error is null or d.series_start = g.series_start)'

/** The endpoint may have echoed what was erased while the request ran. */
const made = (attempt: string) => `jsonb_build_array(case when body is null
    then jsonb_set(${attempt}, '{4}', 'null') else ${attempt} end)`

const resultsSql = `
with given as materialized (
  select * from json_to_recordset($1::json) as g (place integer, id uuid, attempt integer, next_attempt_at timestamptz,
    at timestamptz, http_status integer, error text, made jsonb, disables boolean, series_start integer)
), finished as (
  delete from webhooks.deliveries d using given g
  where ${matches} and ${isLast}
  returning d.*, g.place, g.attempt, g.made, g.at, g.http_status, g.error
), kept as (
  insert into webhooks.finished_deliveries (${sourceColumns}, attempts, attempts_made, last_attempt_at, last_http_status,
    last_error, ended_at)
  select ${sourceColumns}, attempt, attempts_made || ${made('made')}, at, http_status, error, now() from finished
), retried as (
  update webhooks.deliveries d
  set attempts = g.attempt, attempts_made = d.attempts_made || ${made('g.made')}, last_attempt_at = g.at,
    last_http_status = g.http_status, last_error = g.error, claimed_by = null, claimed_until = null,
    next_attempt_at = case when d.series_start = g.series_start then g.next_attempt_at else d.next_attempt_at end,
    series_start = case when d.series_start = g.series_start then d.series_start else g.attempt end
  from given g
  where ${matches} and not (${isLast})
  returning g.place, g.disables, d.node, g.at, d.next_attempt_at
), disabling as (
  select distinct on (node) place, node, at from retried where disables order by node, place
), disabled as (
  insert into webhooks.nodes as n (name, disabled_at)
  select node, at from disabling
  on conflict (name) do update set disabled_at = excluded.disabled_at where n.disabled_at is null
  returning name
)
select place, false as paused_endpoint, null as next_attempt_at from finished
union all
select place, place in (select place from disabling join disabled on name = node), next_attempt_at from retried`
