// The projector's health page: whether the read models and the tree keep up with the log.
import { auditFigures } from '@paylog/audit-log/treeStore'
import type { EventStore } from '@paylog/event-store/eventStore'
import { lagDetails, type ProjectionFigures, projectionGauges, sharedFigures } from '@paylog/projections/lag'
import type { RunnerState } from '@paylog/projections/runProjection'
import { createHttp } from '@paylog/runtime/http/http'
import { type CheckDetails, createHealth } from '@paylog/runtime/process/health'
import type { Lifecycle } from '@paylog/runtime/process/lifecycle'
import type { Logger } from '@paylog/runtime/telemetry/log'
import type { Metrics } from '@paylog/runtime/telemetry/metrics'
import type { Pool } from 'pg'
import { type AuditState, auditReadiness, registerAuditMetrics } from './audit.ts'
import type { MeasuredRunner } from './lag.ts'

/** A projection with more lag is not ready, which makes a rolling deployment wait. */
const readyLagSeconds = 60

/**
 * Serves `/health/live`, `/health/ready` and `/metrics` until the app stops.
 * @returns its URL
 */
export async function startHealthPage(options: {
  readonly host: string
  readonly port: number
  readonly pool: Pool
  readonly store: Pick<EventStore, 'head'>
  readonly runners: readonly MeasuredRunner[]
  readonly audit: AuditState
  readonly metrics: Metrics
  readonly lifecycle: Lifecycle
  readonly log: Logger
}): Promise<string> {
  const { host, port, pool, store, runners, audit, metrics, lifecycle, log } = options
  const health = createHealth()
  health.check('postgres', async () => {
    await pool.query('select 1')
    return {}
  })
  health.check('event store', async () => {
    await store.head()
    return {}
  })
  const readFigures = sharedFigures(pool)
  for (const { projection, state } of runners) {
    health.check(`projection ${projection.name}`, async () => {
      const figures = (await readFigures()).find((row) => row.projection === projection.name)
      return readiness(state, figures)
    })
  }
  health.check('audit log', async () => auditReadiness(audit.state, await auditFigures(pool)))
  registerAuditMetrics(metrics, { pool, audit, log })
  metrics.gauges({ ...projectionGauges(readFigures), log })
  const http = createHttp({ log })
  await http.register(health.plugin)
  await http.register(metrics.plugin)
  lifecycle.add('health page', () => http.close())
  return await http.listen({ host, port })
}

/**
 * A standby is ready. A running projection has to keep up with the log, also while a new table is filled beside it. A
 * rebuild that fails is not ready, because the new schema version is not in use.
 */
export function readiness(
  { role, rebuild, isConnected: connected }: RunnerState,
  figures: ProjectionFigures | undefined,
): CheckDetails & Record<string, unknown> {
  const lag = figures?.lag
  const state = { role, ...(rebuild !== 'none' && { rebuild }) }
  const details = { ...state, connected, ...lagDetails(figures) }
  if (role === 'standing by') return rebuild === 'failing' ? { ok: false, ...state } : state
  const keepsUp = role === 'running' && connected && lag !== undefined && lag.seconds <= readyLagSeconds
  return keepsUp && rebuild !== 'failing' ? details : { ok: false, ...details }
}
