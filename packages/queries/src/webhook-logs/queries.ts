// Queries for the webhook log. Columns are listed one by one, so that new ones are not exposed by accident.
import { mapFields } from '@paylog/domain/fields'
import type { WebhookLogEntry, WebhookLogStatus } from '@paylog/domain/webhookLog'
import { type Given, type Queryable, queriesByShape, runQuery } from '@paylog/runtime/postgres/runQuery'
import {
  composeOne,
  composePage,
  deliveryShape,
  type ListedDelivery,
  listedColumns,
  type PageInput,
  readPage,
} from '@paylog/webhooks/deliveries/operations/deliveryPages'
import { type Expression, sql } from 'kysely'
import type { Found } from '../lists/lists.ts'

/** An entry whose payload is the JSON text that was sent. */
export type LoggedWebhook = Omit<WebhookLogEntry, 'payload'> & { readonly payload: string }

/** A row of the entry query. */
type EntryRow = ListedDelivery & {
  /** Null when it is too long to be shown, or was erased. */
  readonly shown_body: string | null
  /** Null when it was erased. */
  readonly body_bytes: number | null
  readonly last_response: string | null
  /** Of each attempt the start in ms since 1970, the duration, the HTTP status and the error. */
  readonly tried: readonly (readonly [at: number, ms: number, http_status: number | null, error: string | null])[]
}

function loggedWebhook(row: EntryRow): LoggedWebhook {
  const { stream, revision, event_id, causation_id, correlation_id } = row
  const { shown_body, body_bytes } = row
  return {
    id: row.id,
    provider: row.provider,
    event_type: row.event,
    status: row.last_error === null ? 'success' : 'failed',
    response: {
      node: row.endpoint,
      test: row.is_test,
      requested_by: row.is_test ? row.user_id : null,
      http_status: row.last_http_status,
      error: row.last_error,
      body: row.last_response,
      attempts: row.tried.map(([at, ms, http_status, error]) => ({
        at: new Date(at).toISOString(),
        ms,
        http_status,
        error,
      })),
      next_attempt_at: row.next_attempt_at,
      causation: { stream, revision, event_id, causation_id, correlation_id },
    },
    created_at: row.created_at,
    payload: shown_body ?? JSON.stringify(body_bytes === null ? null : { truncated: true, bytes: body_bytes }),
  }
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

type ComposedLimits = { readonly [Limit in keyof EntryLimits]: Expression<number> }

/** `octet_length` does not read the text itself. */
const entryColumns = ({ bodyBytes }: ComposedLimits) => [
  ...listedColumns,
  sql<string | null>`case when octet_length(delivery.body) <= ${bodyBytes} then delivery.body end`.as('shown_body'),
  sql<number | null>`octet_length(delivery.body)`.as('body_bytes'),
  sql<EntryRow['tried']>`attempted.tried`.as('tried'),
  sql<string | null>`attempted.last_response`.as('last_response'),
]

/** The attempts of an entry and the last response, as one row. */
const attemptsOf = ({ responseLength, attempts }: ComposedLimits) =>
  sql<Pick<EntryRow, 'tried' | 'last_response'>>`(
    select coalesce(json_agg(made - 4 order by attempt), '[]') as tried,
      max(left(made ->> 4, ${responseLength}::integer)) filter (where attempt = delivery.attempts) as last_response
    from (
      select * from jsonb_array_elements(delivery.attempts_made) with ordinality as m (made, attempt)
      order by attempt desc limit ${attempts}
    ) as latest
  )`.as('attempted')

const pageQuery = queriesByShape((given: Given<PageInput>, shape: ReturnType<typeof deliveryShape>) => {
  const limits = mapFields(listLimits, (_, name) => given(({ query }) => entryLimits(query.limit)[name]))
  return composePage(given, shape)
    .innerJoinLateral(attemptsOf(limits), (join) => join.onTrue())
    .select(entryColumns(limits))
    .$castTo<EntryRow>()
})

const entryQuery = queriesByShape(
  (given: Given<Pick<WebhookLogsQuery, 'user_id'> & { id: string }>, ofUser: boolean) => {
    const limits = mapFields(singleLimits, (limit) => sql.lit(limit))
    return composeOne(given)
      .innerJoinLateral(attemptsOf(limits), (join) => join.onTrue())
      .select(entryColumns(limits))
      .where('delivery.attempts', '>', sql.lit(0))
      .$if(ofUser, (entry) =>
        entry.where(
          'delivery.user_id',
          '=',
          given(({ user_id = null }) => user_id),
        ),
      )
      .$castTo<EntryRow>()
  },
)

/** Newest first. */
export async function listWebhookLogs(db: Queryable, { status, ...query }: WebhookLogsQuery): Promise<LoggedWebhook[]> {
  const attempted = { ...query, attempted: status ?? 'any' } as const
  return (await readPage(db, pageQuery(deliveryShape(attempted)), attempted)).map(loggedWebhook)
}

/** @returns `undefined` if it is missing, another user's, or has no attempt. The revision is the number of attempts */
export async function getWebhookLog(
  db: Queryable,
  query: Pick<WebhookLogsQuery, 'user_id'> & { readonly id: string },
): Promise<Found<LoggedWebhook> | undefined> {
  const [row] = await runQuery(db, entryQuery(query.user_id !== undefined), query)
  return row && { item: loggedWebhook(row), revision: BigInt(row.attempts) }
}
