// The deliveries table: the bodies to send, and their attempts.
import type { Pool } from 'pg'
import { readCheckpoint } from '../subscriptions/checkpoint.ts'
import { batched } from './batched.ts'
import { graceMs, type MappedBatch, recordDeliveries, toPostgresText } from './recordDeliveries.ts'

/** One attempt of a delivery. Its number is a fencing token: results with an outdated number are ignored. */
export type AttemptRef = { readonly deliveryId: string; readonly attempt: number }
/** `isTest`: a user tries out an endpoint; real deliveries go first. */
export type QueuedAttempt = AttemptRef & { readonly delayMs: number; readonly isTest?: boolean }

export type Deliveries = ReturnType<typeof createDeliveries>

/** How long a row that was returned to the requeuer is not returned again. */
const requeueAfterMs = 15_000

/** How many tests of an endpoint are sent at once. The rest of each worker's concurrency is for real deliveries. */
const maxConcurrentTests = 10
const maxTestsScanned = 10_000

/** Concurrent calls of all endpoints' workers share statements. */
const batching = { maxBatch: 100, slowAfterMs: 250, keyOf: ({ deliveryId }: AttemptRef) => deliveryId }

export function createDeliveries(pool: Pool) {
  return {
    /** The position up to which the log is mapped; `undefined` before the first batch. */
    checkpoint: (name: string) => readCheckpoint(pool, name),

    record: (batch: MappedBatch) => recordDeliveries(pool, batch),

    /** See `dueDeliveries`. */
    due: batched({ ...batching, run: (attempts: readonly AttemptRef[]) => dueDeliveries(pool, attempts) }),

    /** See `finishAttempts`. */
    finish: batched({ ...batching, run: (results: readonly AttemptResult[]) => finishAttempts(pool, results) }),

    /**
     * Returns overdue pending rows, oldest first, each at most once per interval. Deliveries of a paused endpoint and
     * tests are left out; see `overdueTests`.
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
     * Returns a few tests, taking users in turns. Tests being sent count until they are finished.
     * @param queuedBy includes tests that need a job by this time; later than `at` for newly recorded tests
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
update webhooks.deliveries set requeue_at = $4
where id in (
  select id from webhooks.deliveries
  where node = $1 and status = 'pending' and not is_test and requeue_at <= $2
    and not exists (select from webhooks.nodes where name = $1 and disabled_at is not null)
  order by requeue_at
  limit $3
  for update skip locked
)
returning id, attempts + 1 as attempt`

// Retries already have a delayed job, so only tests that are due now count.
const overdueTestsSql = `
update webhooks.deliveries set requeue_at = $4
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
  ) and status = 'pending' and requeue_at <= $5
    and not exists (select from webhooks.nodes where name = $1 and disabled_at is not null)
  for update skip locked
)
returning id, attempts + 1 as attempt`

export type DueDelivery = {
  readonly event: string
  readonly body: string
  readonly is_test: boolean
  /** Attempts made before the current series of retries. */
  readonly series_start: number
  readonly correlation_id: string
  readonly causation_id: string
  /** The parent of the attempt's span; `null` when the delivery is not traced. */
  readonly traceparent: string | null
}

/**
 * Looks up many attempts at once.
 * @returns for each, in their order, the delivery to send; `undefined` when the attempt was already made, the delivery
 * is finished, or its endpoint is paused
 */
async function dueDeliveries(
  pool: Pool,
  attempts: readonly AttemptRef[],
): Promise<readonly (DueDelivery | undefined)[]> {
  const { rows } = await pool.query<DueDelivery & { place: bigint }>({
    name: 'due-deliveries',
    text: dueSql,
    values: [attempts.map(({ deliveryId }) => deliveryId), attempts.map(({ attempt }) => attempt - 1)],
  })
  const byPlace = new Map(rows.map(({ place, ...due }) => [Number(place), due]))
  return attempts.map((_, index) => byPlace.get(index + 1))
}

// `offset 0` isolates the inner query, so that rows are found by primary key. With any other condition the planner could
// pick the index of pending rows, which consists mostly of dead entries under load.
const dueSql = `
select g.place, d.event, d.body, d.is_test, d.series_start, d.correlation_id, d.causation_id, d.traceparent
from unnest($1::uuid[], $2::integer[]) with ordinality as g (id, attempts, place)
cross join lateral (
  select node, event, body, is_test, series_start, status, attempts, correlation_id, causation_id, traceparent
  from webhooks.deliveries where id = g.id offset 0
) d
where d.status = 'pending' and d.attempts = g.attempts
  and not exists (select from webhooks.nodes n where n.name = d.node and n.disabled_at is not null)`

export type AttemptResult = AttemptRef & {
  readonly at: Date
  readonly ms: number
  readonly httpStatus: number | null
  /** The error class; `null` for a success. */
  readonly error: string | null
  readonly responseBody: string | null
  readonly status: 'pending' | 'succeeded' | 'failed'
  /** `null` for a finished delivery, and for one that is held because its endpoint is paused. */
  readonly nextAttemptAt: Date | null
  /** The endpoint is gone and gets nothing until an operator enables it. The delivery stays pending. */
  readonly disablesNode: boolean
  /** The series of retries that decided the status. A redelivery starts another one. */
  readonly seriesStart?: number
}

/** `disabledNode`: this result paused the endpoint. */
export type FinishedAttempt = { readonly disabledNode: boolean }

/**
 * Records the results of attempts, each of a different delivery. A held delivery counts as overdue at once, so the requeuer
 * finds it when its endpoint is enabled.
 * @returns for each, in their order; `undefined`, with nothing changed, when the attempt was recorded before (by a worker
 * presumed dead) or a redelivery started another series of retries meanwhile
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
    requeue_at: new Date((nextAttemptAt ?? at).getTime() + graceMs),
    at,
    ms,
    http_status: httpStatus,
    error,
    response_body: responseBody === null ? null : toPostgresText(responseBody),
    disables: disablesNode,
    series_start: result.seriesStart,
  }
}

/** Rows are locked in the order of their ids, as in operators' commands, which prevents deadlocks. */
const byId = (one: { readonly id: string }, other: { readonly id: string }) =>
  one.id < other.id ? -1 : one.id > other.id ? 1 : 0

// Written so that the planner can find rows only by primary key: `any (array[…])` and the attempt's condition cannot be
// hashed, and "not finished" does not match the index of pending rows, which consists mostly of dead entries under load.
// The plan is cached with the statement, and must stay good while the table changes.
const finishSql = `
with finished as (
  update webhooks.deliveries d
  set attempts = g.attempt, status = g.status, next_attempt_at = g.next_attempt_at, requeue_at = g.requeue_at,
      last_attempt_at = g.at, last_http_status = g.http_status, last_error = g.error
  from json_to_recordset($1::json) as g (place integer, id uuid, attempt integer, status text,
    next_attempt_at timestamptz, requeue_at timestamptz, at timestamptz, ms integer, http_status integer, error text,
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
