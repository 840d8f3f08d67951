// What waits to be delivered, and whether it is our fault that it waits.
import type { CheckDetails } from '@paylog/runtime/process/health'
import type { WebhookEndpoint } from '@paylog/webhooks/endpoints/endpoints'
import type { Pool } from 'pg'
import { concurrencyPerEndpoint } from './queue/workers.ts'

export type EndpointBacklog = {
  readonly node: string
  /** Nothing is sent to it until an operator enables it. */
  readonly is_disabled: boolean
  /** Up to 10 000. */
  readonly pending: number
  /** How many of them should have been tried by now, up to 1000. */
  readonly due: number
  readonly oldest_undelivered_seconds: number | null
  /** For how long the one that waits longest for its turn has been due. A retry that is not due yet is not overdue. */
  readonly overdue_seconds: number
}

/** Of these nodes. It costs some index look-ups for each, however much is waiting or was delivered. */
export async function readBacklog(pool: Pool, nodes: readonly string[]): Promise<EndpointBacklog[]> {
  const { rows } = await pool.query<EndpointBacklog>({ name: 'backlog', text: backlogSql, values: [nodes] })
  return rows
}

const backlogSql = `
select node, disabled_at is not null as is_disabled, pending, due,
  extract(epoch from now() - oldest_created_at)::float8 as oldest_undelivered_seconds,
  coalesce(greatest(extract(epoch from now() - oldest_due_at)::float8, 0), 0) as overdue_seconds
from webhooks.backlog where node = any($1::text[]) order by node`

const maxOverdueMs = 60_000

/**
 * A check for readiness: no delivery is late by more than a minute. It counts from when an attempt is due, so an endpoint
 * that fails and is tried again makes nothing late, and an attempt may take the node's timeout. Nor is the rest late while
 * attempts fill all places of a node and keep ending: then it is the endpoint that takes no more.
 *
 * @param options `endedAt` is when an attempt of a node last ended here
 */
export function createBacklogCheck(options: {
  readonly pool: Pool
  readonly endpoints: readonly WebhookEndpoint[]
  readonly endedAt: (node: string) => Date | undefined
  readonly now: () => Date
}): () => Promise<CheckDetails> {
  const { pool, endpoints, endedAt, now } = options
  const names = endpoints.map(({ name }) => name)

  function isLate({ node, due, overdue_seconds }: EndpointBacklog): boolean {
    const patienceMs = maxOverdueMs + (endpoints.find(({ name }) => name === node)?.timeoutMs ?? 0)
    if (overdue_seconds * 1_000 <= patienceMs) return false
    const isBusy = now().getTime() - (endedAt(node)?.getTime() ?? 0) <= patienceMs
    return due < concurrencyPerEndpoint || !isBusy
  }

  return async () => {
    const backlog = await readBacklog(pool, names)
    const [held, waiting] = [backlog.filter((row) => row.is_disabled), backlog.filter((row) => !row.is_disabled)]
    const late = waiting.filter(isLate)
    const ages = waiting.flatMap(({ oldest_undelivered_seconds: age }) => age ?? [])
    const details = {
      oldest_undelivered_seconds: ages.length === 0 ? null : Math.round(Math.max(...ages)),
      overdue_seconds: Math.round(Math.max(0, ...waiting.map(({ overdue_seconds }) => overdue_seconds))),
      pending: sumOfPending(waiting),
      held: sumOfPending(held),
      disabled_nodes: held.map(({ node }) => node),
      late_nodes: late.map(({ node }) => node),
    }
    return late.length > 0 ? { ok: false, ...details } : details
  }
}

function sumOfPending(rows: readonly EndpointBacklog[]): number {
  return rows.reduce((sum, { pending }) => sum + pending, 0)
}
