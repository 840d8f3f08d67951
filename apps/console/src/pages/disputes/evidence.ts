// How urgent the evidence of a dispute is.
import { formatDuration } from '../../format/time.ts'
import type { Tone } from '../../parts/Badge.tsx'

const secondMs = 1_000
const dayMs = 86_400_000
/** As GET /admin/attention has it. */
const soonMs = 7 * dayMs
const urgentMs = 2 * dayMs

/** `evidence_due_by`: null when the provider names no time. */
type Asked = { readonly status: string; readonly evidence_due_by: string | null }

/** @param now in ms @returns null when nothing is asked for */
export function evidenceUrgency(
  { status, evidence_due_by }: Asked,
  now: number,
): { readonly text: string; readonly tone: Tone } | null {
  if (status !== 'open' || evidence_due_by === null) return null
  const leftMs = Date.parse(evidence_due_by) - now
  if (leftMs <= 0) return { text: 'overdue', tone: 'bad' }
  const text = `due in ${leftMs >= urgentMs ? daysText(leftMs) : formatDuration(leftMs / secondMs)}`
  if (leftMs <= urgentMs) return { text, tone: 'bad' }
  return { text, tone: leftMs <= soonMs ? 'warn' : 'quiet' }
}

/** Whether somebody has to send evidence within a week. @param now in ms */
export const isUrgent = (dispute: Asked, now: number): boolean =>
  (evidenceUrgency(dispute, now)?.tone ?? 'quiet') !== 'quiet'

const daysText = (ms: number) => `${Math.floor(ms / dayMs)} days`
