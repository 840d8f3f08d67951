// Queries for the webhook log. Columns are listed one by one, so that new ones are not exposed by accident.
import type { WebhookLogEntry, WebhookLogStatus } from '@paylog/domain/webhookLog'
import { type RawBuilder, sql } from 'kysely'
import type { Found, OffsetParameters } from '../queries/listPage.ts'
import { prepareQuery, type Queryable, type QueryParameters, queryBuilder } from '../queries/namedQuery.ts'

/** The columns of the view `log` that queries use directly. An entry is a delivery with at least one attempt. */
type LogRecord = {
  readonly id: string
  readonly provider: string
  readonly event: string
  readonly user_id: string | null
  readonly created_at: string
  readonly error: string | null
  readonly is_attempted: boolean
  /** 'infinity' for a delivery that is not finished. */
  readonly ended_at: string
}

/** The worker's views. They belong to no projection. */
const webhookLogs = queryBuilder<{ readonly log: LogRecord }>('webhooks')

/** An entry whose payload is the JSON text that was sent. */
export type LoggedWebhook = Omit<WebhookLogEntry, 'payload'> & { readonly payload: string }

/** An attempt: start in ms since 1970, duration, HTTP status and error. */
type AttemptRecord = readonly [at: number, ms: number, http_status: number | null, error: string | null]

/** A row of the entry query. */
export type EntryRecord = Omit<LogRecord, 'is_attempted' | 'ended_at'> & {
  readonly is_test: boolean
  /** Null when it is too long to be shown, or was erased. */
  readonly body: string | null
  /** Null when it was erased. */
  readonly body_bytes: number | null
  readonly node: string
  readonly attempts: number
  readonly http_status: number | null
  readonly last_response: string | null
  readonly next_attempt_at: string | null
  readonly tried: readonly AttemptRecord[]
  readonly source_stream: string
  readonly source_revision: number
  readonly source_event_id: string
  readonly causation_id: string
  readonly correlation_id: string
}

function loggedWebhook(record: EntryRecord): LoggedWebhook {
  const { id, provider, event, error, body, body_bytes, node, http_status, next_attempt_at, created_at } = record
  return {
    id,
    provider,
    event_type: event,
    status: error === null ? 'success' : 'failed',
    response: {
      node,
      test: record.is_test,
      requested_by: record.is_test ? record.user_id : null,
      http_status,
      error,
      body: record.last_response,
      attempts: record.tried.map(attemptOf),
      next_attempt_at,
      causation: {
        stream: record.source_stream,
        revision: record.source_revision,
        event_id: record.source_event_id,
        causation_id: record.causation_id,
        correlation_id: record.correlation_id,
      },
    },
    created_at,
    payload: body ?? JSON.stringify(body_bytes === null ? null : { truncated: true, bytes: body_bytes }),
  }
}

function attemptOf([at, ms, http_status, error]: AttemptRecord) {
  return { at: new Date(at).toISOString(), ms, http_status, error }
}

/** The user whose entries are visible; `undefined` for all entries, for administrators. */
type EntryOwner = { readonly user_id: string | undefined }

type Values = OffsetParameters &
  EntryOwner &
  EntryLimits & {
    readonly provider?: string | undefined
    /** The event name as sent. */
    readonly event?: string | undefined
  }

type Shape = { readonly status: WebhookLogStatus | 'any' }

export type WebhookLogsQuery = Omit<Values, keyof EntryLimits> & Shape

/** The maximum sizes of an entry's parts. */
type EntryLimits = {
  /** A longer payload is left out. */
  readonly bodyBytes: number
  /** Characters of the last response. */
  readonly responseLength: number
  readonly attempts: number
}

/** With a higher limit, entries are shortened in proportion, so that a page stays below 4 MiB. */
const fullSizePage = 100
const listLimits: EntryLimits = { bodyBytes: 16_384, responseLength: 1_024, attempts: 25 }
/** Practically unlimited, except for attempts, since operators may redeliver any number of times. */
const singleLimits: EntryLimits = { bodyBytes: 1 << 30, responseLength: 1 << 30, attempts: 1_000 }

/** Depends only on `limit`, so that the same request always truncates the same way. */
function entryLimits(limit: number): EntryLimits {
  const share = Math.min(1, fullSizePage / limit)
  return {
    bodyBytes: Math.floor(listLimits.bodyBytes * share),
    responseLength: Math.floor(listLimits.responseLength * share),
    attempts: Math.ceil(listLimits.attempts * share),
  }
}

type PageValues = Values & {
  /** Leaves out deliveries that ended before. */
  readonly since: Date
}

const logPage = prepareQuery(
  (parameters: QueryParameters<PageValues>, { status }: Shape) => {
    const { limit, offset, since } = parameters
    const kinds = status === 'any' ? (['success', 'failed'] as const) : [status]
    // Finds the ids first, from an index alone, without reading the rows that are skipped.
    const ids = sql`select id, created_at, ended_at from (${sql.join(
      kinds.map((kind) => newest(parameters, kind)),
      sql` union all `,
    )}) as found order by created_at desc, id desc limit ${limit} offset ${offset}`
    return sql<EntryRecord>`
      select ${entryColumns(parameters)} from (${ids}) as paged, lateral (
        select * from webhooks.log
        where log.id = paged.id and log.ended_at = paged.ended_at and log.ended_at >= ${since}::timestamptz
        -- Separate for each entry: a join could read all partitions.
        offset 0
      ) as log, ${attemptsOf(parameters)}
      order by paged.created_at desc, paged.id desc`
  },
  // Not a named statement: nearly all entries may have this event, or hardly any. And only the partitions since a time are planned.
  { customPlan: true },
)

const dayMs = 86_400_000
/** A page mostly comes from the partitions of these days. Planning for all of them takes longer than the query itself. */
const recentMs = 2 * dayMs
const clockMarginMs = 3_600_000

/** Newest first. */
export async function listWebhookLogs(
  db: Queryable,
  { status, ...values }: WebhookLogsQuery,
): Promise<LoggedWebhook[]> {
  const query = { ...values, ...entryLimits(values.limit) }
  const since = new Date(Date.now() - recentMs)
  const recent = await logPage(db, { ...query, since }, { status })
  // What ended before was also created before, so it is not on a page whose last entry is newer.
  const oldest = recent.length < values.limit ? undefined : recent.at(-1)
  const isWhole = oldest !== undefined && Date.parse(oldest.created_at) > since.getTime() + clockMarginMs
  const page = isWhole ? recent : await logPage(db, { ...query, since: new Date(0) }, { status })
  return page.map(loggedWebhook)
}

type SingleEntryQuery = EntryOwner & { readonly id: string }

const logEntryById = prepareQuery((parameters: QueryParameters<SingleEntryQuery & EntryLimits>) => {
  const { id, user_id } = parameters
  const own = user_id === undefined ? sql`` : sql`and log.user_id = ${user_id}`
  return sql<EntryRecord>`
    select ${entryColumns(parameters)} from webhooks.log, ${attemptsOf(parameters)} where log.id = ${id} and log.is_attempted ${own}`
})

/** @returns `undefined` if it is missing, another user's, or has no attempt. The revision is the number of attempts */
export async function getWebhookLog(db: Queryable, query: SingleEntryQuery): Promise<Found<LoggedWebhook> | undefined> {
  const [record] = await logEntryById(db, { ...query, ...singleLimits }, {})
  return record && { item: loggedWebhook(record), revision: BigInt(record.attempts) }
}

/** As many entries of one kind as the page may need: successes and failures have different indexes. */
function newest(
  { user_id, provider, event, limit, offset, since }: QueryParameters<PageValues>,
  kind: WebhookLogStatus,
) {
  let query = webhookLogs.selectFrom('log').select(['id', 'created_at', 'ended_at'])
  query = query.where('ended_at', '>=', sql<string>`${since}::timestamptz`)
  query = query.where('is_attempted', '=', sql<boolean>`true`)
  query = query.where('error', kind === 'success' ? 'is' : 'is not', null)
  if (user_id !== undefined) query = query.where('user_id', '=', user_id)
  if (provider !== undefined) query = query.where('provider', '=', provider)
  if (event !== undefined) query = query.where('event', '=', event)
  return query.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(sql<bigint>`${limit}::bigint + ${offset}`)
}

function entryColumns({ bodyBytes }: QueryParameters<EntryLimits>): RawBuilder<unknown> {
  // `octet_length` does not read the text itself.
  const body = sql`case when octet_length(log.body) <= ${bodyBytes} then log.body end`
  return sql`log.id, log.provider, log.event, log.user_id, log.is_test, log.created_at, log.node, log.attempts,
    log.http_status, log.error,
    log.next_attempt_at, log.source_stream, log.source_revision, log.source_event_id, log.causation_id,
    log.correlation_id, ${body} as body, octet_length(log.body) as body_bytes, tried.tried, tried.last_response`
}

/** The attempts of an entry and the last response, as one row. */
function attemptsOf({ responseLength, attempts }: QueryParameters<EntryLimits>): RawBuilder<unknown> {
  return sql`lateral (
    select coalesce(json_agg(made - 4 order by attempt), '[]') as tried,
      max(left(made ->> 4, ${responseLength}::integer)) filter (where attempt = log.attempts) as last_response
    from (
      select * from jsonb_array_elements(log.attempts_made) with ordinality as m (made, attempt)
      order by attempt desc limit ${attempts}
    ) as latest
  ) as tried`
}
