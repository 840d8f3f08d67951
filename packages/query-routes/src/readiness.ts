// Whether the read side can be relied on, for `/health/ready` and `/metrics`.
import { type ProjectionFigures, projectionFigures, projectionMetrics, sharedFigures } from '@paylog/projections/lag'
import type { Queryable } from '@paylog/projections/queries/namedQuery'
import { projections } from '@paylog/projections/registry'
import type { Health } from '@paylog/runtime/process/health'
import type { Logger } from '@paylog/runtime/telemetry/log'
import type { Metrics } from '@paylog/runtime/telemetry/metrics'
import { webhookFigures } from './webhookFigures.ts'

/**
 * Adds the database and every projection to readiness. A projection that stopped for an unreadable event is not ready; one
 * that is behind is, since what it has can be read. The webhooks are shown beside them and never fail: an API that is taken
 * out of service for them would refuse payments.
 */
export function checkReadSide(health: Health, db: Queryable): void {
  health.check('postgres', async () => {
    await db.query('select 1')
    return {}
  })
  const look = sharedFigures(db)
  for (const { name } of projections) {
    health.check(`projection ${name}`, async () => {
      const figures = (await look()).find(({ projection }) => projection === name)
      const isStopped = figures?.stopped_because != null
      return isStopped ? { ok: false as const, stopped: true, ...shown(figures) } : shown(figures)
    })
  }
  health.check('webhooks', () => webhookFigures(db))
}

/** Lag is null when it is not known here. Why a projection has stopped names an event, and is for the log. */
function shown(figures: ProjectionFigures | undefined) {
  const lag = figures?.lag
  return {
    version: figures?.version ?? null,
    position: figures?.position ?? null,
    read_at: figures?.read_at ?? null,
    lag_events: lag?.events ?? null,
    ...(lag?.isMore && { lag_is_more: true }),
    lag_seconds: lag?.seconds ?? null,
    told_seconds_ago: figures?.toldSecondsAgo ?? null,
  }
}

/** Adds the figures of the projections to `/metrics`. */
export function measureReadSide(metrics: Metrics, db: Queryable, log: Logger): void {
  metrics.gauges({
    readRows: () => projectionFigures(db),
    labelName: 'projection',
    labelOf: ({ projection }) => projection,
    figures: projectionMetrics,
    log,
  })
}
