// The webhook log: the deliveries that were attempted.
import type { WebhookLogEntry, WebhookLogStatus } from '@paylog/domain/webhookLog'
import type { Queryable } from '@paylog/runtime/postgres/runQuery'
import {
  type DeliveryDetails,
  type DetailLimits,
  getDelivery,
  listLogged,
} from '@paylog/webhooks/deliveries/operations/deliveryList'
import type { Found } from '../lists/lists.ts'

/** An entry whose payload is the JSON text that was sent. */
export type LoggedWebhook = Omit<WebhookLogEntry, 'payload'> & { readonly payload: string }

type Row = Omit<DeliveryDetails, 'mode' | 'status' | 'last_attempt_at' | 'ended_at'> & {
  readonly body_bytes?: number | null
}

function loggedWebhook(row: Row): LoggedWebhook {
  const { stream, revision, event_id, causation_id, correlation_id, attempts_made, body, body_bytes = null } = row
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
      body: attempts_made.at(-1)?.[4] ?? null,
      attempts: attempts_made.map(([at, ms, http_status, error]) => ({
        ...{ at: new Date(at).toISOString(), ms, http_status, error },
      })),
      next_attempt_at: row.next_attempt_at,
      causation: { stream, revision, event_id, causation_id, correlation_id },
    },
    created_at: row.created_at,
    payload: body ?? JSON.stringify(body_bytes === null ? null : { truncated: true, bytes: body_bytes }),
  }
}

export type WebhookLogsQuery = {
  /** The user whose entries are visible; `undefined` for all entries. */
  readonly user_id: string | undefined
  readonly provider?: string | undefined
  /** The event name as sent. */
  readonly event?: string | undefined
  readonly status?: WebhookLogStatus | undefined
  readonly offset: number
  readonly limit: number
}

/** With a higher limit, entries are shortened in proportion, so that a page stays below 4 MiB. */
const fullSizePage = 100
const limits: DetailLimits = { bodyBytes: 16_384, responseLength: 1_024, lastAttempts: 25 }
/** Of a single entry, since operators may redeliver any number of times. */
const maxAttempts = 1_000

/** Depends only on `limit`, so that the same request always truncates the same way. */
function limitsOf(limit: number): DetailLimits {
  const share = Math.min(1, fullSizePage / limit)
  return {
    bodyBytes: Math.floor(limits.bodyBytes * share),
    responseLength: Math.floor(limits.responseLength * share),
    lastAttempts: Math.ceil(limits.lastAttempts * share),
  }
}

/** Newest first. */
export async function listWebhookLogs(db: Queryable, { status, ...query }: WebhookLogsQuery): Promise<LoggedWebhook[]> {
  const ended = status && ({ success: 'succeeded', failed: 'failed' } as const)[status]
  return (await listLogged(db, { ...query, status: ended, isAttempted: true }, limitsOf(query.limit))).map(
    loggedWebhook,
  )
}

/** @returns `undefined` if it is missing, another user's, or has no attempt. The revision is the number of attempts */
export async function getWebhookLog(
  db: Queryable,
  { id, user_id }: Pick<WebhookLogsQuery, 'user_id'> & { readonly id: string },
): Promise<Found<LoggedWebhook> | undefined> {
  const found = await getDelivery(db, id)
  if (found === undefined || found.attempts === 0 || (user_id ?? found.user_id) !== found.user_id) return undefined
  const attempts_made = found.attempts_made.slice(-maxAttempts)
  return { item: loggedWebhook({ ...found, attempts_made }), revision: BigInt(found.attempts) }
}
