// Lists deliveries, newest first or by the events they came from, and the state of each endpoint, for operators.
import type { Pool } from 'pg'

export const listedStatuses = ['pending', 'held', 'succeeded', 'failed'] as const
/** `held`: pending, and its endpoint is paused. */
export type ListedStatus = (typeof listedStatuses)[number]

export type ListedDelivery = {
  readonly id: string
  readonly node: string
  readonly event: string
  readonly status: ListedStatus
  readonly attempts: number
  readonly is_test: boolean
  readonly last_http_status: number | null
  readonly last_error: string | null
  readonly next_attempt_at: Date | null
  readonly created_at: Date
}

export type ListedEndpoint = {
  readonly node: string
  /** Whether the configuration of the last started worker has this endpoint. */
  readonly is_configured: boolean
  readonly disabled_at: Date | null
  /** Counted up to 10 000. All of them are held while the endpoint is paused. */
  readonly pending: number
  /** Counted up to 10 000. */
  readonly failed: number
  readonly oldest_pending_at: Date | null
}

export type DeliveryFilter = { readonly node?: string | undefined; readonly status?: ListedStatus | undefined }

/** Counting stops here, which bounds its cost. */
export const maxCounted = 10_000

const isDisabled = 'exists (select from webhooks.nodes n where n.name = node and n.disabled_at is not null)'
const listedStatus = `case when status = 'pending' and ${isDisabled} then 'held' else status end as status`
/** Pending deliveries have a table, and the indexes of finished ones are separate for successes and failures. */
const conditionsByStatus: { readonly [Status in ListedStatus | 'all']: readonly string[] } = {
  pending: [`status = 'pending' and not ${isDisabled}`],
  held: [`status = 'pending' and ${isDisabled}`],
  succeeded: [`status = 'succeeded' and last_error is null`],
  failed: [`status = 'failed' and last_error is not null`],
  all: [
    `status = 'pending'`,
    `status = 'succeeded' and last_error is null`,
    `status = 'failed' and last_error is not null`,
  ],
}

/** The newest deliveries first. */
export async function listDeliveries(
  pool: Pool,
  { node, status, limit }: DeliveryFilter & { readonly limit: number },
): Promise<ListedDelivery[]> {
  const newest = (condition: string) => `(
    select id, node, event, ${listedStatus}, attempts, is_test, last_http_status, last_error, next_attempt_at, created_at
    from webhooks.all_deliveries
    where ${condition} and ($1::text is null or node = $1)
    order by created_at desc, id desc limit $2
  )`
  const { rows } = await pool.query<ListedDelivery>(
    `select * from (${conditionsByStatus[status ?? 'all'].map(newest).join(' union all ')}) as newest
    order by created_at desc, id desc limit $2`,
    [node ?? null, limit],
  )
  return rows
}

/** A delivery with the event that it came from. */
export type StreamDelivery = Pick<
  ListedDelivery,
  'id' | 'node' | 'event' | 'status' | 'attempts' | 'next_attempt_at'
> & {
  readonly event_id: string
  readonly stream: string
  readonly revision: number
  readonly mode: 'raw' | 'canonical' | 'legacy'
  readonly last_attempt_at: Date | null
}

/** All deliveries of the events of some streams, in the order of each stream's events. */
export async function deliveriesOfStreams(pool: Pool, streams: readonly string[]): Promise<StreamDelivery[]> {
  const { rows } = await pool.query<StreamDelivery>(ofStreamsSql, [streams])
  return rows
}

/** Exported so that a test can check its plan. */
export const ofStreamsSql = `
select source_event_id as event_id, source_stream as stream, source_revision::int as revision, id, node, event, mode,
  ${listedStatus}, attempts, last_attempt_at, next_attempt_at
from webhooks.all_deliveries
where source_stream = any($1)
order by source_stream, source_revision, node, event, id`

/** All endpoints that were ever configured, or only the named one. */
export async function listEndpoints(pool: Pool, node?: string): Promise<ListedEndpoint[]> {
  const { rows } = await pool.query<ListedEndpoint>(endpointsSql, [node ?? null, maxCounted])
  return rows.toSorted((one, other) => one.node.localeCompare(other.node, 'en', { numeric: true }))
}

const endpointsSql = `
select b.node, b.is_configured, b.disabled_at, b.pending, b.oldest_created_at as oldest_pending_at,
  (select count(*)::int from (
    select from webhooks.finished_deliveries d where d.node = b.node and d.last_error is not null limit $2
  ) as failed) as failed
from webhooks.backlog b
where $1::text is null or b.node = $1`
