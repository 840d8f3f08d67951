// Readiness and metrics of the query API.

import { setTimeout as sleep } from 'node:timers/promises'
import {
  lagDetails,
  type ProjectionFigures,
  projectionFigures,
  projectionGauges,
  sharedFigures,
} from '@paylog/projections/lag'
import { projections } from '@paylog/projections/registry'
import type { Queryable } from '@paylog/runtime/postgres/runQuery'
import type { Health } from '@paylog/runtime/process/health'
import type { Logger } from '@paylog/runtime/telemetry/log'
import type { Metrics } from '@paylog/runtime/telemetry/metrics'

/**
 * Adds the database and every projection to readiness. A projection that stopped at an unreadable event is not ready; one
 * with a lag is, since its data can be read. Webhook figures are shown but never fail: taking the API out of service for
 * them would reject payments.
 */
export function checkReadSide(health: Health, db: Queryable): void {
  health.check('postgres', async () => {
    await db.query('select 1')
    return {}
  })
  const readFigures = sharedFigures(db)
  for (const { name } of projections) {
    health.check(`projection ${name}`, async () => {
      const figures = (await readFigures()).find(({ projection }) => projection === name)
      const isStopped = figures?.stopped_because != null
      return isStopped ? { ok: false as const, stopped: true, ...toDetails(figures) } : toDetails(figures)
    })
  }
  health.check('webhooks', () => webhookFigures(db))
}

/** The reason of a stop names an event and belongs in the log. */
const toDetails = (figures: ProjectionFigures | undefined) => ({
  ...lagDetails(figures),
  read_at: figures?.read_at ?? null,
  reported_seconds_ago: figures?.reportedSecondsAgo ?? null,
})

/** Adds the projection metrics to `/metrics`. */
export function measureReadSide(metrics: Metrics, db: Queryable, log: Logger): void {
  metrics.gauges({ ...projectionGauges(() => projectionFigures(db)), log })
}

/** Shorter than the timeout of a readiness check. */
const timeoutMs = 1_000

type Figures = {
  /** Workers seen within half a minute. */
  readonly workers: number
  /** Null when no worker runs because the last one stopped normally. */
  readonly worker_seen_seconds: number | null
  readonly oldest_undelivered_seconds: number | null
  readonly overdue_seconds: number
  readonly pending: number
  /** Deliveries of paused or no longer configured endpoints. */
  readonly held: number
  readonly disabled_nodes: readonly string[]
}

/** The webhook figures; `known: false` without webhook tables, or when the database is too busy. */
export async function webhookFigures(db: Queryable): Promise<Figures | { readonly known: false }> {
  try {
    const figures = db.query<Figures>({ name: 'webhook-figures', text: figuresSql }).then(({ rows }) => rows[0])
    const timeout = sleep(timeoutMs, undefined, { ref: false })
    return (await Promise.race([figures, timeout])) ?? { known: false }
  } catch {
    return { known: false }
  }
}

const figuresSql = `
select a.running as workers, round(a.last_seen_seconds::numeric, 1)::float8 as worker_seen_seconds,
  round(extract(epoch from now() - b.oldest_created_at))::float8 as oldest_undelivered_seconds,
  coalesce(greatest(round(extract(epoch from now() - b.oldest_due_at)), 0), 0)::float8 as overdue_seconds,
  b.pending, b.held, b.disabled_nodes
from webhooks.worker_activity a, (
  select min(oldest_created_at) filter (where is_active) as oldest_created_at,
    min(oldest_due_at) filter (where is_active) as oldest_due_at,
    coalesce(sum(pending) filter (where is_active), 0)::integer as pending,
    coalesce(sum(pending) filter (where not is_active), 0)::integer as held,
    coalesce(array_agg(node order by node) filter (where disabled_at is not null), '{}') as disabled_nodes
  from (select *, is_configured and disabled_at is null as is_active from webhooks.backlog) as nodes
) b`
