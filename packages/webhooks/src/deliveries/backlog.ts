// The backlog of each endpoint, and the readiness check for overdue deliveries.
import type { CheckDetails } from '@paylog/runtime/process/health'
import type { Pool } from 'pg'
import type { WebhookEndpoint } from '../endpoints/endpoints.ts'
import { concurrencyPerEndpoint } from './send/lanes.ts'

export type EndpointBacklog = {
  readonly endpoint: string
  /** An endpoint that responded 410 Gone is paused until an operator enables it. */
  readonly is_disabled: boolean
  /** Counted up to 10 000. */
  readonly pending: number
  /** Deliveries whose next attempt is due, counted up to 1000. */
  readonly due: number
  readonly oldest_undelivered_seconds: number | null
  /** How long the oldest due attempt has been due. A scheduled retry is not due before its time. */
  readonly overdue_seconds: number
}

/** Reads the backlog of these endpoints. It costs a few index look-ups per endpoint, for any number of deliveries. */
export async function readBacklog(pool: Pool, endpoints: readonly string[]): Promise<EndpointBacklog[]> {
  const { rows } = await pool.query<EndpointBacklog>({ name: 'backlog', text: backlogSql, values: [endpoints] })
  return rows
}

const backlogSql = `
select node as endpoint, disabled_at is not null as is_disabled, pending, due,
  extract(epoch from now() - oldest_created_at)::float8 as oldest_undelivered_seconds,
  coalesce(greatest(extract(epoch from now() - oldest_due_at)::float8, 0), 0) as overdue_seconds
from webhooks.backlog where node = any($1::text[]) order by node`

const maxOverdueMs = 60_000

/**
 * Readiness check: no delivery is overdue by more than a minute plus the endpoint's timeout. Time counts from when an
 * attempt is due, so the retries of a failing endpoint are not overdue. Neither are deliveries of a slow endpoint: while
 * all its concurrent attempts are in use and keep ending, the endpoint is the bottleneck.
 *
 * @param options `endedAt` is when an attempt for an endpoint last ended in this process
 */
export function createBacklogCheck(options: {
  readonly pool: Pool
  readonly endpoints: readonly WebhookEndpoint[]
  readonly endedAt: (endpoint: string) => Date | undefined
  readonly now: () => Date
}): () => Promise<CheckDetails> {
  const { pool, endpoints, endedAt, now } = options
  const names = endpoints.map(({ name }) => name)

  function isLate({ endpoint, due, overdue_seconds }: EndpointBacklog): boolean {
    const toleranceMs = maxOverdueMs + (endpoints.find(({ name }) => name === endpoint)?.timeoutMs ?? 0)
    if (overdue_seconds * 1_000 <= toleranceMs) return false
    const isBusy = now().getTime() - (endedAt(endpoint)?.getTime() ?? 0) <= toleranceMs
    return due < concurrencyPerEndpoint || !isBusy
  }

  return async () => {
    const backlog = await readBacklog(pool, names)
    const [paused, enabled] = [backlog.filter((row) => row.is_disabled), backlog.filter((row) => !row.is_disabled)]
    const late = enabled.filter(isLate)
    const ages = enabled.flatMap(({ oldest_undelivered_seconds: age }) => age ?? [])
    const details = {
      oldest_undelivered_seconds: ages.length === 0 ? null : Math.round(Math.max(...ages)),
      overdue_seconds: Math.round(Math.max(0, ...enabled.map(({ overdue_seconds }) => overdue_seconds))),
      pending: sumOfPending(enabled),
      held: sumOfPending(paused),
      disabled_nodes: paused.map(({ endpoint }) => endpoint),
      late_nodes: late.map(({ endpoint }) => endpoint),
    }
    return late.length > 0 ? { ok: false, ...details } : details
  }
}

function sumOfPending(rows: readonly EndpointBacklog[]): number {
  return rows.reduce((sum, { pending }) => sum + pending, 0)
}
