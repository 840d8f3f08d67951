// Claims: a worker takes due deliveries for the time of a lease, and releases what it does not send.
import type { Pool } from 'pg'

/** A delivery that this worker has claimed, for one attempt. */
export type ClaimedDelivery = {
  readonly id: string
  readonly endpoint: string
  readonly event: string
  /** Null when it was erased, and has to be built again. */
  readonly body: string | null
  /** The keys of the personal data in the body. */
  readonly key_ids: readonly string[]
  readonly is_test: boolean
  readonly source_stream: string
  readonly source_revision: bigint
  readonly correlation_id: string
  readonly causation_id: string
  /** The parent of the attempt's span; `null` when the delivery is not traced. */
  readonly traceparent: string | null
  /** The attempts made before this one. */
  readonly attempts: number
  /** Attempts made before the current series of retries. */
  readonly series_start: number
  /** When this attempt was due. */
  readonly next_attempt_at: Date
  /** After this another worker may claim it. */
  readonly claimed_until: Date
}

export type ClaimRequest = {
  readonly endpoint: string
  /** How many deliveries of the endpoint to claim, and for how long. */
  readonly limit: number
  readonly leaseMs: number
  /** Leaves out what was due earlier. */
  readonly since: Date
}

/** How many tests of an endpoint are sent at once. The rest of each worker's concurrency is for real deliveries. */
export const maxConcurrentTests = 10
const maxTestsScanned = 10_000

/** A worker whose heartbeat is older is dead, and what it has claimed is free. */
const deadAfterSeconds = 5

/** Claims deliveries of all these endpoints in one statement. @param statement `dueDeliveries` or `dueTests` */
export async function claim(
  pool: Pool,
  statement: { readonly name: string; readonly text: string },
  worker: string,
  requests: readonly ClaimRequest[],
  at: Date,
): Promise<ClaimedDelivery[]> {
  const { rows } = await pool.query<ClaimedDelivery>({
    ...statement,
    values: [
      requests.map(({ endpoint }) => endpoint),
      requests.map(({ limit }) => limit),
      requests.map(({ leaseMs }) => leaseMs),
      at,
      worker,
      requests.map(({ since }) => since),
    ],
  })
  return rows
}

/** Gives claimed deliveries back, so that they can be claimed at once. */
export async function releaseClaims(pool: Pool, worker: string, ids: readonly string[]): Promise<void> {
  await pool.query({
    name: 'release-deliveries',
    text: `update webhooks.deliveries set claimed_by = null, claimed_until = null
      where id = any ($1::uuid[]) and claimed_by = $2`,
    values: [ids, worker],
  })
}

/** Not claimed, or by a worker that is dead or took too long. Claims are in no index: few rows are claimed at a time. */
const isFree = `(d.claimed_until is null or d.claimed_until <= $4 or d.claimed_by = any (array(
        select w.id from webhooks.workers w where w.seen_at < now() - interval '${deadAfterSeconds} seconds'
      )))`

const takePicked = `
update webhooks.deliveries d
set claimed_by = $5, claimed_until = $4::timestamptz + make_interval(secs => picked.lease_ms::float8 / 1000)
from picked
where d.id = any (array[picked.id])
returning d.id, d.node as endpoint, d.event, d.body, d.key_ids, d.is_test, d.source_stream, d.source_revision, d.correlation_id, d.causation_id, d.traceparent,
  d.attempts, d.series_start, d.next_attempt_at, d.claimed_until`

const enabledEndpoints = `
  select r.* from unnest($1::text[], $2::integer[], $3::integer[], $6::timestamptz[]) as r (node, max, lease_ms, since)
  where not exists (select from webhooks.nodes n where n.name = r.node and n.disabled_at is not null)`

// Rows that another worker is claiming are skipped, and rows that it has claimed meanwhile are checked again once locked.
/**
 * Due deliveries, the longest due first, but no tests. A delivery waits until all earlier ones of its stream have had their
 * first attempt. Deliveries of paused endpoints are left out.
 */
export const dueDeliveries = {
  name: 'claim-deliveries',
  text: `
with picked as materialized (
  select due.id, e.lease_ms from (${enabledEndpoints}) as e
  cross join lateral (
    select d.id from webhooks.deliveries d
    where d.node = e.node and not d.is_test and d.next_attempt_at <= $4 and d.next_attempt_at >= e.since and ${isFree}
      and (d.attempts > 0 or not exists (
        select from webhooks.deliveries f
        where f.source_stream = d.source_stream and f.node = d.node and f.source_revision < d.source_revision
          and f.attempts = 0
      ))
    order by d.next_attempt_at
    limit e.max
    for update skip locked
  ) as due
)${takePicked}`,
}

/**
 * Due tests, users in turns. Tests being sent count until they are finished: at most `maxConcurrentTests` of an endpoint are
 * claimed at a time, by all workers.
 */
export const dueTests = {
  name: 'claim-tests',
  text: `
with picked as materialized (
  select due.id, e.lease_ms from (${enabledEndpoints}) as e
  cross join lateral (
    select d.id from webhooks.deliveries d
    where d.id in (
      select id from (
        select id, created_at, row_number() over (partition by user_id order by created_at, id) as turn from (
          select id, created_at, user_id from webhooks.deliveries
          where node = e.node and is_test and next_attempt_at <= $4
          order by next_attempt_at, id
          limit ${maxTestsScanned}
        ) as due
      ) as queued
      order by turn, created_at, id
      limit ${maxConcurrentTests}
    ) and ${isFree}
    limit e.max
    for update skip locked
  ) as due
)${takePicked}`,
}
