// Lists deliveries, newest first or by the events they came from, for operators.
import type { Pool } from 'pg'

/**
 * Settings of sessions that read the lists. Compiling a plan over ninety partitions takes seconds. The rows that an index finds are
 * mostly in memory; without this, Postgres walks all endpoints' deliveries instead of using the index of one.
 */
export const listSettings = '-c jit=off -c random_page_cost=1.1'

export const listedStatuses = ['pending', 'held', 'succeeded', 'failed'] as const
/**
 * `held` is no status of a row: it is pending, and not sent before its endpoint is enabled again.
 */
export type ListedStatus = (typeof listedStatuses)[number]

export type DeliveryMode = 'raw' | 'canonical' | 'legacy'

/** A delivery with the event that it came from. */
export type ListedDelivery = {
  readonly id: string
  readonly node: string
  readonly event: string
  readonly mode: DeliveryMode
  readonly provider: string
  readonly status: ListedStatus
  readonly is_test: boolean
  readonly attempts: number
  readonly last_http_status: number | null
  readonly last_error: string | null
  readonly last_attempt_at: Date | null
  /** Null when none is planned: it is finished, or its endpoint is paused or not configured. */
  readonly next_attempt_at: Date | null
  readonly created_at: Date
  readonly ended_at: Date | null
  readonly stream: string
  readonly revision: number
  readonly event_id: string
  readonly causation_id: string
  readonly correlation_id: string
}

/** An attempt: start in ms since 1970, duration in ms, HTTP status, error and the beginning of the response. */
export type AttemptMade = readonly [number, number, number | null, string | null, string | null]

export type DeliveryDetails = ListedDelivery & {
  /** The exact body of the request; null once personal data in it was erased. */
  readonly body: string | null
  readonly attempts_made: readonly AttemptMade[]
}

/** All conditions that are set must hold. */
export type DeliveryFilter = {
  readonly node?: string | undefined
  readonly status?: ListedStatus | undefined
  /** The name of the webhook. */
  readonly event?: string | undefined
  readonly isTest?: boolean | undefined
  /** Of the events that they came from. */
  readonly streams?: readonly string[] | undefined
}

export type DeliveryListQuery = DeliveryFilter & {
  readonly limit: number
  /** The last delivery of the previous page. */
  readonly after?: { readonly createdAt: Date; readonly id: string } | undefined
}

const source = `d.source_stream as stream, d.source_revision::int as revision, d.source_event_id as event_id, d.causation_id,
  d.correlation_id`
const result = 'd.attempts, d.last_http_status, d.last_error, d.last_attempt_at'
const pendingColumns = `d.id, d.node, d.event, d.mode, d.provider, case when n.is_paused then 'held' else 'pending' end as status,
  d.is_test, ${result}, case when n.is_configured and not n.is_paused then d.next_attempt_at end as next_attempt_at,
  d.created_at, null::timestamptz as ended_at, ${source}`
const finishedColumns = `d.id, d.node, d.event, d.mode, d.provider,
  case when d.last_error is null then 'succeeded' else 'failed' end as status, d.is_test, ${result},
  null::timestamptz as next_attempt_at, d.created_at, d.ended_at, ${source}`

const endpointState = `coalesce(e.disabled_at is not null, false) as is_paused, coalesce(e.is_configured, false) as is_configured`

/** The names of the endpoints with pending deliveries, one index lookup each. */
const endpointNames = `
  (select node from webhooks.deliveries order by node limit 1)
  union all
  select (select d.node from webhooks.deliveries d where d.node > names.name order by d.node limit 1)
  from names where names.name is not null`

const newestFirst = 'order by d.created_at desc, d.id desc'

/** Collects the values of a statement. @returns their places in it */
function createParameters() {
  const values: unknown[] = []
  return { values, add: (value: unknown) => `$${values.push(value)}` }
}

/** @param since leaves out deliveries that ended before, and their partitions */
export function deliveryListSql(query: DeliveryListQuery, since: Date): { text: string; values: unknown[] } {
  const { node, status, event, isTest, streams, limit, after } = query
  const { values, add } = createParameters()
  const max = add(limit)
  const ofEndpoint = node === undefined ? undefined : add(node)
  const conditions = [
    ...(event === undefined ? [] : [`d.event = ${add(event)}`]),
    // Not a parameter: the index of tests is partial.
    ...(isTest === undefined ? [] : [isTest ? 'd.is_test' : 'not d.is_test']),
    ...(after === undefined
      ? []
      : [`(d.created_at, d.id) < (${add(after.createdAt)}::timestamptz, ${add(after.id)}::uuid)`]),
  ]
  // Few rows: sorted after they were found, instead of looked for in the order of the list.
  const inStreams = streams === undefined ? undefined : `source_stream = any(${add(streams)}::text[])`
  const rowsOf = (table: string) =>
    inStreams === undefined ? `webhooks.${table}` : `(select * from webhooks.${table} where ${inStreams} offset 0)`

  const pending = () => `
    select ${pendingColumns}
    from (select names.name, ${endpointState} from names left join webhooks.nodes e using (name) where names.name is not null) as n,
      lateral (
        select * from ${rowsOf('deliveries')} as d where ${['d.node = n.name', ...conditions].join(' and ')}
        ${newestFirst} limit ${max}
      ) as d
    where ${status === undefined ? 'true' : status === 'held' ? 'n.is_paused' : 'not n.is_paused'}
    ${newestFirst} limit ${max}`

  // Finds the ids first, from an index alone, without reading the rows that a filter skips. Then each row by itself: a join could
  // read all partitions.
  const finished = (hasError: boolean) => {
    const ended = `d.ended_at >= ${add(since)}::timestamptz`
    return `
    select ${finishedColumns}
    from (
      select d.id, d.created_at, d.ended_at from ${rowsOf('finished_deliveries')} as d
      where ${[
        `d.last_error is ${hasError ? 'not ' : ''}null`,
        ended,
        ...(ofEndpoint === undefined ? [] : [`d.node = ${ofEndpoint}`]),
        ...conditions,
      ].join(' and ')}
      ${newestFirst} limit ${max}
    ) as found, lateral (
      select d.* from webhooks.finished_deliveries d where d.id = found.id and d.ended_at = found.ended_at and ${ended} offset 0
    ) as d`
  }

  const parts = {
    pending: [pending],
    held: [pending],
    succeeded: [() => finished(false)],
    failed: [() => finished(true)],
    any: [pending, () => finished(false), () => finished(true)],
  }[status ?? 'any'].map((part) => `(${part()})`)
  const names = ofEndpoint === undefined ? endpointNames : `select ${ofEndpoint}::text`
  const text = `with recursive names (name) as (${names})
    select d.* from (${parts.join(' union all ')}) as d ${newestFirst} limit ${max}`
  return { text, values }
}

const dayMs = 86_400_000
/** A page mostly comes from the partitions of these days. Planning for all of them takes longer than the query itself. */
const recentMs = 2 * dayMs
const clockMarginMs = 3_600_000

/** The newest deliveries first. */
export async function listDeliveries(pool: Pool, query: DeliveryListQuery): Promise<ListedDelivery[]> {
  const page = async (since: Date) => (await pool.query<ListedDelivery>(deliveryListSql(query, since))).rows
  // A payment may be of any age.
  if (query.streams !== undefined) return await page(new Date(0))
  const start = Math.min(query.after?.createdAt.getTime() ?? Number.POSITIVE_INFINITY, Date.now())
  const since = new Date(start - recentMs)
  const recent = await page(since)
  // What ended before was also created before, so it is not on a page whose last delivery is newer.
  const oldest = recent.length < query.limit ? undefined : recent.at(-1)
  const isWhole = oldest !== undefined && oldest.created_at.getTime() > since.getTime() + clockMarginMs
  return isWhole ? recent : await page(new Date(0))
}

/** @returns undefined for an unknown id */
export async function getDelivery(pool: Pool, id: string): Promise<DeliveryDetails | undefined> {
  const { rows } = await pool.query<DeliveryDetails>(detailsSql, [id])
  return rows[0]
}

const detailsSql = `
select ${pendingColumns}, d.body, d.attempts_made
from webhooks.deliveries d
left join lateral (select ${endpointState} from (select) as one left join webhooks.nodes e on e.name = d.node) as n on true
where d.id = $1
union all
select ${finishedColumns}, d.body, d.attempts_made from webhooks.finished_deliveries d where d.id = $1`

/** A delivery as it is shown with the event that it came from. */
export type StreamDelivery = Pick<
  ListedDelivery,
  | 'id'
  | 'node'
  | 'event'
  | 'mode'
  | 'status'
  | 'attempts'
  | 'last_attempt_at'
  | 'next_attempt_at'
  | 'event_id'
  | 'stream'
  | 'revision'
>

/** All deliveries of the events of some streams, in the order of each stream's events. */
export async function deliveriesOfStreams(pool: Pool, streams: readonly string[]): Promise<StreamDelivery[]> {
  const { rows } = await pool.query<StreamDelivery>(ofStreamsSql, [streams])
  return rows
}

/** Exported so that a test can check its plan. */
export const ofStreamsSql = `
select source_event_id as event_id, source_stream as stream, source_revision::int as revision, id, node, event, mode,
  case when status = 'pending' and exists (
    select from webhooks.nodes n where n.name = node and n.disabled_at is not null
  ) then 'held' else status end as status, attempts, last_attempt_at, next_attempt_at
from webhooks.all_deliveries
where source_stream = any($1)
order by source_stream, source_revision, node, event, id`
