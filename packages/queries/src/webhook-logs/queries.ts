// Queries for the webhook log. Columns are listed one by one, so that new ones are not exposed by accident.
import type { WebhookLogEntry, WebhookLogStatus } from '@paylog/domain/webhookLog'
import { sql } from 'kysely'
import { allOf, type Found } from '../lists/lists.ts'
import { type Queryable, runQuery, type Sql } from '../lists/runQuery.ts'

/** An entry whose payload is the JSON text that was sent. */
export type LoggedWebhook = Omit<WebhookLogEntry, 'payload'> & { readonly payload: string }

/** An attempt: start in ms since 1970, duration, HTTP status and error. */
type AttemptRecord = readonly [at: number, ms: number, http_status: number | null, error: string | null]

/** A row of the entry query. */
type EntryRecord = {
  readonly id: string
  readonly provider: string
  readonly event: string
  readonly user_id: string | null
  readonly created_at: string
  readonly error: string | null
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

export type WebhookLogsQuery = {
  /** The user whose entries are visible; `undefined` for all entries, for administrators. */
  readonly user_id: string | undefined
  readonly provider?: string | undefined
  /** The event name as sent. */
  readonly event?: string | undefined
  readonly status?: WebhookLogStatus | undefined
  readonly offset: number
  readonly limit: number
}

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

/** @param since leaves out deliveries that ended before */
function logPage(query: WebhookLogsQuery, since: Date): Sql<EntryRecord> {
  const { limit, offset, status } = query
  const limits = entryLimits(limit)
  const kinds = status === undefined ? (['success', 'failed'] as const) : [status]
  const newestOfEach = kinds.map((kind) => sql`(${newest(query, { kind, since })})`)
  // Finds the ids first, from an index alone, without reading the rows that are skipped.
  return sql<EntryRecord>`
    select ${entryColumns(limits)} from (
      select id, created_at, ended_at from (${sql.join(newestOfEach, sql` union all `)}) as found
      order by created_at desc, id desc limit ${limit} offset ${offset}
    ) as paged, lateral (
      select * from webhooks.log
      where log.id = paged.id and log.ended_at = paged.ended_at and log.ended_at >= ${since}::timestamptz
      -- Separate for each entry: a join could read all partitions.
      offset 0
    ) as log, ${attemptsOf(limits)}
    order by paged.created_at desc, paged.id desc`
}

/** As many entries of one kind as the page may need: successes and failures have different indexes. */
function newest(
  { user_id, provider, event, limit, offset }: WebhookLogsQuery,
  { kind, since }: { readonly kind: WebhookLogStatus; readonly since: Date },
): Sql {
  const conditions = [
    sql`ended_at >= ${since}::timestamptz`,
    sql`is_attempted`,
    kind === 'success' ? sql`error is null` : sql`error is not null`,
    ...(user_id === undefined ? [] : [sql`user_id = ${user_id}`]),
    ...(provider === undefined ? [] : [sql`provider = ${provider}`]),
    ...(event === undefined ? [] : [sql`event = ${event}`]),
  ]
  return sql`select id, created_at, ended_at from webhooks.log where ${allOf(conditions)}
    order by created_at desc, id desc limit ${limit + offset}`
}

const dayMs = 86_400_000
/** A page mostly comes from the partitions of these days. Planning for all of them takes longer than the query itself. */
const recentMs = 2 * dayMs
const clockMarginMs = 3_600_000

/** Newest first. */
export async function listWebhookLogs(db: Queryable, query: WebhookLogsQuery): Promise<LoggedWebhook[]> {
  // Not a named statement: nearly all entries may have this event, or hardly any. And only the partitions since a time are planned.
  const page = (since: Date) => runQuery(db, logPage(query, since), { customPlan: true })
  const since = new Date(Date.now() - recentMs)
  const recent = await page(since)
  // What ended before was also created before, so it is not on a page whose last entry is newer.
  const oldest = recent.length < query.limit ? undefined : recent.at(-1)
  const isWhole = oldest !== undefined && Date.parse(oldest.created_at) > since.getTime() + clockMarginMs
  return (isWhole ? recent : await page(new Date(0))).map(loggedWebhook)
}

/** @returns `undefined` if it is missing, another user's, or has no attempt. The revision is the number of attempts */
export async function getWebhookLog(
  db: Queryable,
  { id, user_id }: Pick<WebhookLogsQuery, 'user_id'> & { readonly id: string },
): Promise<Found<LoggedWebhook> | undefined> {
  const own = user_id === undefined ? sql`true` : sql`log.user_id = ${user_id}`
  const [record] = await runQuery(
    db,
    sql<EntryRecord>`
      select ${entryColumns(singleLimits)} from webhooks.log, ${attemptsOf(singleLimits)}
      where log.id = ${id} and log.is_attempted and ${own}`,
  )
  return record && { item: loggedWebhook(record), revision: BigInt(record.attempts) }
}

function entryColumns({ bodyBytes }: EntryLimits): Sql {
  // `octet_length` does not read the text itself.
  return sql`log.id, log.provider, log.event, log.user_id, log.is_test, log.created_at, log.node, log.attempts,
    log.http_status, log.error, log.next_attempt_at, log.source_stream, log.source_revision, log.source_event_id,
    log.causation_id, log.correlation_id, case when octet_length(log.body) <= ${bodyBytes} then log.body end as body,
    octet_length(log.body) as body_bytes, tried.tried, tried.last_response`
}

/** The attempts of an entry and the last response, as one row. */
const attemptsOf = ({ responseLength, attempts }: EntryLimits): Sql => sql`lateral (
  select coalesce(json_agg(made - 4 order by attempt), '[]') as tried,
    max(left(made ->> 4, ${responseLength}::integer)) filter (where attempt = log.attempts) as last_response
  from (
    select * from jsonb_array_elements(log.attempts_made) with ordinality as m (made, attempt)
    order by attempt desc limit ${attempts}
  ) as latest
) as tried`
