// Attention to the read models, and to the log's tree: the projector has stored it.
import { auditFigures } from '@paylog/audit-log/treeStore'
import { type ProjectionFigures, projectionFigures } from '@paylog/projections/lag'
import { type AttentionItem, attentionLimits } from './item.ts'
import type { AttentionSource } from './source.ts'

const { readModelSeconds: limit } = attentionLimits

export const readModelAttention: AttentionSource = {
  what: 'read models',
  codes: ['read_model_stopped'],
  link: '/read-models',
  async read({ db, now }) {
    const all = await projectionFigures(db)
    return all.flatMap((figures) => stopped(figures, now()))
  },
}

/** One that nobody reports on is not known to be up to date. */
function stopped({ projection, stopped_because, lag, ...figures }: ProjectionFigures, now: Date): AttentionItem[] {
  const ago = (seconds: number) => new Date(now.getTime() - seconds * 1_000).toISOString()
  const item = { code: 'read_model_stopped' as const, link: '/read-models', count: lag?.events || 1 }
  if (stopped_because !== null) {
    const message = `The list of ${projection} has stopped at an event that it cannot read`
    return [{ ...item, message, occurred_at: figures.read_at.toISOString() }]
  }
  if (lag !== undefined && lag.seconds > limit) {
    const message = `The list of ${projection} is more than ${limit} seconds behind the log`
    return [{ ...item, message, occurred_at: ago(lag.seconds) }]
  }
  const { reportedSecondsAgo } = figures
  if (reportedSecondsAgo === undefined || reportedSecondsAgo <= limit) return []
  const message = `The list of ${projection} has not been reported on by a projector for more than ${limit} seconds`
  return [{ ...item, message, occurred_at: ago(reportedSecondsAgo) }]
}

export const logAttention: AttentionSource = {
  what: 'tree of the log',
  codes: ['log_not_verified'],
  link: '/audit',
  async read({ db }) {
    const { stoppedBecause, updatedAt } = await auditFigures(db)
    if (stoppedBecause === null) return []
    const message = `The log does not verify, and no checkpoint is signed: ${stoppedBecause}`
    return [{ code: 'log_not_verified', message, occurred_at: updatedAt.toISOString(), link: '/audit', count: 1 }]
  },
}
