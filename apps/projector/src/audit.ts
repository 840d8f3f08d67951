// Readiness and metrics of the log's tree.
import type { RecorderState } from '@paylog/audit-log/recorder'
import { type AuditFigures, auditFigures } from '@paylog/audit-log/treeStore'
import type { CheckDetails } from '@paylog/runtime/process/health'
import type { Logger } from '@paylog/runtime/telemetry/log'
import type { Metrics } from '@paylog/runtime/telemetry/metrics'
import type { Pool } from 'pg'

export type AuditState = {
  readonly state: RecorderState
  /** Whether checkpoints go to AUDIT_CHECKPOINT_URL. */
  readonly isPublishing: boolean
}

/** A standby is ready. A tree with fewer leaves than a signed checkpoint is being built again, and nothing can be signed. */
export function auditReadiness(
  { role, isConnected: connected }: RecorderState,
  { size, last, unsignedLeaves }: AuditFigures,
): CheckDetails & Record<string, unknown> {
  if (role === 'standing by') return { role }
  const details = { role, connected, size, signed_size: last?.size ?? null, unsigned: unsignedLeaves }
  const isReady = role === 'running' && connected && size >= (last?.size ?? 0)
  return isReady ? details : { ok: false, ...details }
}

/** Every projector reports the same, from the database. A figure that is unknown is left out. */
export function registerAuditMetrics(
  metrics: Metrics,
  options: { readonly pool: Pool; readonly audit: AuditState; readonly log: Pick<Logger, 'warn'> },
): void {
  const { pool, audit, log } = options
  let pending: Promise<AuditFigures> | undefined
  const read = () => {
    pending ??= auditFigures(pool).finally(() => {
      pending = undefined
    })
    return pending
  }
  const gauge = (name: string, help: string, measure: (figures: AuditFigures) => number | undefined) =>
    metrics.gauge({
      name,
      help,
      labelNames: [],
      async collect() {
        try {
          const value = measure(await read())
          return value === undefined ? [] : [{ labels: {}, value }]
        } catch (error) {
          log.warn({ err: error, metric: name }, 'a metric could not be read')
          return []
        }
      },
    })
  gauge('audit_tree_size', 'Events in the tree of the log', ({ size }) => size)
  gauge(
    'audit_tree_stopped',
    'Whether the log is not that of the tree, or the tree not that of the last checkpoint',
    ({ stoppedBecause }) => (stoppedBecause === null ? 0 : 1),
  )
  gauge('audit_unsigned_events', 'Events since the last checkpoint', ({ unsignedLeaves }) => unsignedLeaves)
  gauge(
    'audit_checkpoint_age_seconds',
    'Age of the last checkpoint; missing without one',
    ({ last }) => last?.ageSeconds,
  )
  gauge(
    'audit_unpublished_seconds',
    'Age of the oldest checkpoint that is not published; 0 without AUDIT_CHECKPOINT_URL',
    ({ unpublishedSeconds }) => (audit.isPublishing ? (unpublishedSeconds ?? 0) : 0),
  )
}
