// The tables of deliveries, for queries: a wrong column, or a value of a wrong type, does not compile. The migrations create them,
// and a test compares the two.
import { composerOf } from '@paylog/runtime/postgres/runQuery'

export type DeliveryMode = 'raw' | 'canonical' | 'legacy'

/** An attempt: start in ms since 1970, duration in ms, HTTP status, error and the beginning of the response. */
export type AttemptMade = readonly [number, number, number | null, string | null, string | null]

/** What a delivery keeps from its record to its end. */
const source = {
  id: 'uuid',
  node: 'text',
  event: 'text',
  mode: 'text',
  provider: 'text',
  body: 'text?',
  source_stream: 'text',
  source_revision: 'int8',
  source_event_id: 'uuid',
  correlation_id: 'text',
  causation_id: 'text',
  payment_id: 'text?',
  user_id: 'text?',
  is_test: 'bool',
  traceparent: 'text?',
  created_at: 'timestamptz',
  key_ids: '_uuid',
} as const

export const sourceColumns = Object.keys(source).join(', ')

const { created_at: _, ...recorded } = source
/** What a message gives to its delivery, with its types in Postgres. */
export const recordedColumns = Object.entries(recorded).map(([name, type]) => [name, type.replace('?', '')] as const)

const result = { attempts: 'int4', attempts_made: 'jsonb', last_http_status: 'int4?', last_error: 'text?' } as const
const endpoint = { is_configured: 'bool', disabled_at: 'timestamptz?' } as const

/** The columns of each table or view, by their types in Postgres; those with a question mark may be null. */
export const columns = {
  deliveries: {
    ...source,
    ...result,
    last_attempt_at: 'timestamptz?',
    next_attempt_at: 'timestamptz',
    series_start: 'int4',
    claimed_by: 'uuid?',
    claimed_until: 'timestamptz?',
  },
  finished_deliveries: { ...source, ...result, last_attempt_at: 'timestamptz', ended_at: 'timestamptz' },
  // Endpoints.
  nodes: { name: 'text', ...endpoint },
  backlog: {
    node: 'text',
    ...endpoint,
    pending: 'int4',
    due: 'int4',
    oldest_created_at: 'timestamptz?',
    oldest_due_at: 'timestamptz?',
  },
} as const

/** As `runQuery` reads them. */
type Types = {
  readonly uuid: string
  readonly text: string
  readonly int4: number
  readonly int8: number
  readonly bool: boolean
  readonly timestamptz: string
  readonly jsonb: readonly AttemptMade[]
  readonly _uuid: readonly string[]
}
type ValueOf<Type> = Type extends `${infer Held extends keyof Types}?`
  ? Types[Held] | null
  : Type extends keyof Types
    ? Types[Type]
    : never

type RowOf<Described> = {
  readonly [Name in keyof Described]: Name extends 'mode' ? DeliveryMode : ValueOf<Described[Name]>
}

/** The rows of the tables and views, by their names. */
export type WebhookTables = {
  readonly [Name in keyof typeof columns as `webhooks.${Name}`]: RowOf<(typeof columns)[Name]>
}

/** Composes queries of the tables. */
export const webhookTables = composerOf<WebhookTables>()
