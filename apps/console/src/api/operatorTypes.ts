// The resources of operations: processes, projections, jobs, webhook endpoints and deliveries.

export type SystemReport = {
  version: string
  processes: {
    name: string
    status: 'ready' | 'unavailable' | 'stopping' | 'unreachable'
    checks: Record<string, unknown>
    ms: number
  }[]
}

export type ProjectionReport = {
  projection: string
  schema_version: number
  is_running: boolean
  is_rebuilding: boolean
  is_verifying: boolean
  lag: { events: number; is_more: boolean; seconds: number } | null
  stopped_because: string | null
  tables: {
    table: string
    version: number
    state: string
    since: string
    schema_version: number
    position: string
    rows: number
    bytes: number
  }[]
}

export type Job = {
  id: string
  kind: 'rebuild' | 'verify' | 'backfill'
  subject: string
  status: 'running' | 'succeeded' | 'failed' | 'canceled' | 'interrupted'
  requested_by: string
  created_at: string
  updated_at: string
  ended_at: string | null
  progress: { step: string; events: number; position: string; head: string } | null
  result: Record<string, unknown> | null
  error: string | null
}

export type WebhookEndpointReport = {
  endpoint: string
  url: string | null
  events: string[] | null
  mode: string | null
  format: string | null
  is_configured: boolean
  disabled_at: string | null
  pending: number
  failed: number
  oldest_pending_at: string | null
  recent: { deliveries: number; succeeded: number; p50_ms: number; p95_ms: number } | null
}

export type DeliveryStatus = 'pending' | 'held' | 'succeeded' | 'failed'
export type Delivery = {
  id: string
  endpoint: string
  event: string
  mode: string
  provider: string | null
  status: DeliveryStatus
  is_test: boolean
  attempts: number
  last_http_status: number | null
  last_error: string | null
  last_attempt_at: string | null
  next_attempt_at: string | null
  created_at: string
  ended_at: string | null
  source: {
    stream: string
    revision: string
    event_id: string
    causation_id: string | null
    correlation_id: string | null
  }
}
export type DeliveryDetail = Delivery & {
  url: string | null
  headers: Record<string, string>
  payload: string
  tries: { at: string; ms: number | null; http_status: number | null; error: string | null; response: string | null }[]
}
