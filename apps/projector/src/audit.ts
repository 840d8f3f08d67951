// Readiness and metrics of the log's tree.
import type { RecorderState } from '@paylog/audit-log/recorder'
import { type AuditFigures, auditFigures } from '@paylog/audit-log/treeStore'
import type { CheckDetails } from '@paylog/runtime/process/health'
import { shared } from '@paylog/runtime/process/shared'
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
  { size, last, unsignedLeaves }: Pick<AuditFigures, 'size' | 'last' | 'unsignedLeaves'>,
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
  metrics.gauges<AuditFigures>({
    readRows: shared(async () => [await auditFigures(pool)]),
    figures: [
      { name: 'audit_tree_size', help: 'Events in the tree of the log', measure: ({ size }) => size },
      {
        name: 'audit_tree_stopped',
        help: 'Whether the log is not that of the tree, or the tree not that of the last checkpoint',
        measure: ({ stoppedBecause }) => (stoppedBecause === null ? 0 : 1),
      },
      {
        name: 'audit_unsigned_events',
        help: 'Events since the last checkpoint',
        measure: ({ unsignedLeaves }) => unsignedLeaves,
      },
      {
        name: 'audit_checkpoint_age_seconds',
        help: 'Age of the last checkpoint; missing without one',
        measure: ({ last }) => last?.ageSeconds,
      },
      {
        name: 'audit_unpublished_seconds',
        help: 'Age of the oldest checkpoint that is not published; 0 without AUDIT_CHECKPOINT_URL',
        measure: ({ unpublishedSeconds }) => (audit.isPublishing ? (unpublishedSeconds ?? 0) : 0),
      },
    ],
    log,
  })
}
