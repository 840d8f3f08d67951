// The views of deliveries, for queries: a wrong column, or a value of a wrong type, does not compile.
import { composerOf } from '@paylog/runtime/postgres/runQuery'

/** An attempt: start in ms since 1970, duration in ms, HTTP status, error and the beginning of the response. */
export type AttemptMade = readonly [number, number, number | null, string | null, string | null]

/** The rows of the views. */
export type WebhookViews = {
  readonly 'webhooks.log': {
    readonly id: string
    readonly node: string
    readonly event: string
    readonly mode: 'raw' | 'canonical' | 'legacy'
    readonly provider: string
    /** `held` is no status of a row: it is pending, and not sent before its endpoint is enabled again. */
    readonly status: 'pending' | 'held' | 'succeeded' | 'failed'
    readonly body: string | null
    readonly user_id: string | null
    readonly is_test: boolean
    readonly is_pending: boolean
    readonly is_attempted: boolean
    readonly attempts: number
    readonly attempts_made: readonly AttemptMade[]
    readonly http_status: number | null
    readonly error: string | null
    readonly last_attempt_at: string | null
    readonly next_attempt_at: string | null
    readonly created_at: string
    /** Infinity for a pending one. */
    readonly ended_at: string
    readonly source_stream: string
    readonly source_revision: number
    readonly source_event_id: string
    readonly causation_id: string
    readonly correlation_id: string
  }
  readonly 'webhooks.backlog': {
    readonly node: string
    readonly is_configured: boolean
    readonly disabled_at: string | null
    readonly pending: number
    readonly due: number
    readonly oldest_created_at: string | null
    readonly oldest_due_at: string | null
  }
}

/** Composes queries of the views. */
export const webhookViews = composerOf<WebhookViews>()
