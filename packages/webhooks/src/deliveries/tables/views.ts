// The views of deliveries, for queries: a wrong column, or a value of a wrong type, does not compile. A test compares them with the
// database.
import { composerOf } from '@paylog/runtime/postgres/runQuery'

/** An attempt: start in ms since 1970, duration in ms, HTTP status, error and the beginning of the response. */
export type AttemptMade = readonly [number, number, number | null, string | null, string | null]

/** A column, with its type in Postgres and that of its values. */
type Column<Held> = { readonly type: string; readonly held?: Held }
const column = <Held>(type: string): Column<Held> => ({ type })
const nullable = <Held>({ type }: Column<Held>) => column<Held | null>(type)
const uuid = column<string>('uuid')
const text = column<string>('text')
const integer = column<number>('int4')
const boolean = column<boolean>('bool')
const time = column<string>('timestamptz')

/** The columns of each view. */
export const columns = {
  log: {
    id: uuid,
    node: text,
    event: text,
    mode: column<'raw' | 'canonical' | 'legacy'>('text'),
    provider: text,
    // `held` is no status of a row: it is pending, and not sent before its endpoint is enabled again.
    status: column<'pending' | 'held' | 'succeeded' | 'failed'>('text'),
    body: nullable(text),
    user_id: nullable(text),
    is_test: boolean,
    is_pending: boolean,
    is_attempted: boolean,
    attempts: integer,
    attempts_made: column<readonly AttemptMade[]>('jsonb'),
    http_status: nullable(integer),
    error: nullable(text),
    last_attempt_at: nullable(time),
    next_attempt_at: nullable(time),
    created_at: time,
    ended_at: time,
    source_stream: text,
    source_revision: column<number>('int8'),
    source_event_id: uuid,
    causation_id: text,
    correlation_id: text,
  },
  backlog: {
    node: text,
    is_configured: boolean,
    disabled_at: nullable(time),
    pending: integer,
    due: integer,
    oldest_created_at: nullable(time),
    oldest_due_at: nullable(time),
  },
} as const

type RowOf<Described> = {
  readonly [Name in keyof Described]: Described[Name] extends Column<infer Held> ? Held : never
}
/** The rows of the views. */
export type WebhookViews = {
  readonly [Name in keyof typeof columns as `webhooks.${Name}`]: RowOf<(typeof columns)[Name]>
}

/** Composes queries of the views. */
export const webhookViews = composerOf<WebhookViews>()
