// The views of deliveries, for queries: a wrong column, or a value of a wrong type, does not compile. A test compares them with the
// database.
import { composerOf } from '@paylog/runtime/postgres/runQuery'

/** An attempt: start in ms since 1970, duration in ms, HTTP status, error and the beginning of the response. */
export type AttemptMade = readonly [number, number, number | null, string | null, string | null]

/** The columns of each view, by their types in Postgres. Those with a question mark may be null. */
export const columns = {
  log: {
    id: 'uuid',
    node: 'text',
    event: 'text',
    mode: 'text',
    provider: 'text',
    status: 'text',
    body: 'text?',
    user_id: 'text?',
    is_test: 'bool',
    is_pending: 'bool',
    is_attempted: 'bool',
    attempts: 'int4',
    attempts_made: 'jsonb',
    http_status: 'int4?',
    error: 'text?',
    last_attempt_at: 'timestamptz?',
    next_attempt_at: 'timestamptz?',
    created_at: 'timestamptz',
    ended_at: 'timestamptz',
    source_stream: 'text',
    source_revision: 'int8',
    source_event_id: 'uuid',
    causation_id: 'text',
    correlation_id: 'text',
  },
  backlog: {
    node: 'text',
    is_configured: 'bool',
    disabled_at: 'timestamptz?',
    pending: 'int4',
    due: 'int4',
    oldest_created_at: 'timestamptz?',
    oldest_due_at: 'timestamptz?',
  },
} as const

/** As queries read them. */
type Types = {
  readonly uuid: string
  readonly text: string
  readonly int4: number
  readonly int8: number
  readonly bool: boolean
  readonly timestamptz: string
  readonly jsonb: readonly AttemptMade[]
}
/** The columns of text that have a few values. */
type Named = {
  readonly mode: 'raw' | 'canonical' | 'legacy'
  /** `held` is no status of a row: it is pending, and not sent before its endpoint is enabled again. */
  readonly status: 'pending' | 'held' | 'succeeded' | 'failed'
}
type RowOf<Described> = {
  readonly [Name in keyof Described]: Name extends keyof Named
    ? Named[Name]
    : Described[Name] extends `${infer Type extends keyof Types}?`
      ? Types[Type] | null
      : Types[Described[Name] & keyof Types]
}
export type WebhookViews = {
  readonly [Name in keyof typeof columns as `webhooks.${Name}`]: RowOf<(typeof columns)[Name]>
}

/** Composes queries of the views. */
export const webhookViews = composerOf<WebhookViews>()
