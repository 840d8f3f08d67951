// From a row of the worker's view `log` to the entry that clients see, field by field: what is not named here cannot leave
// the service.
import type { WebhookLogEntry } from '@paylog/domain/webhook-logs/resource'
import { queryBuilder } from '../queries/composer.ts'

/** Row of the view `log`: a delivery that was attempted, as far as questions about it are composed column by column. */
type LogRecord = {
  readonly id: string
  readonly provider: string
  readonly event: string
  readonly user_id: string | null
  readonly created_at: string
  readonly error: string | null
}

/** The views that the worker keeps for the read side. They are no read models: no projection writes them. */
export const webhookLogs = queryBuilder<{ readonly log: LogRecord }>('webhooks')

/** An entry that is ready to be written out: its payload is the text that was sent, digit for digit. */
export type LoggedWebhook = Omit<WebhookLogEntry, 'payload'> & { readonly payload: string }

/** An attempt: when it began in ms since 1970, how long it took, the HTTP status and the error. */
type AttemptRecord = readonly [at: number, ms: number, http_status: number | null, error: string | null]

/** An entry as its query finds it. */
export type EntryRecord = LogRecord & {
  readonly is_test: boolean
  /** Null when it is too long for where it is shown. */
  readonly body: string | null
  readonly body_bytes: number
  readonly node: string
  readonly attempts: number
  readonly http_status: number | null
  readonly answer: string | null
  readonly next_attempt_at: string | null
  readonly tried: readonly AttemptRecord[]
  readonly source_stream: string
  readonly source_revision: number
  readonly source_event_id: string
  readonly causation_id: string
  readonly correlation_id: string
}

export function loggedWebhook(record: EntryRecord): LoggedWebhook {
  const { id, provider, event, error, body, body_bytes, node, http_status, answer, next_attempt_at, created_at } =
    record
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
      body: answer,
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
    payload: body ?? JSON.stringify({ truncated: true, bytes: body_bytes }),
  }
}

function attemptOf([at, ms, http_status, error]: AttemptRecord) {
  return { at: new Date(at).toISOString(), ms, http_status, error }
}
