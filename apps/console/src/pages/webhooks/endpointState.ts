// How an endpoint does, in a word and a sentence.
import type { EndpointReport } from '../../api/apiTypes.ts'
import type { Tone } from '../../parts/Badge.tsx'
import { deliveriesText } from './deliveriesText.ts'
import { failureText } from './failureText.ts'

export type EndpointState = {
  readonly kind: 'removed' | 'paused' | 'failing' | 'late' | 'missed' | 'unused' | 'healthy'
  readonly word: string
  readonly tone: Tone
  /** More about it, as a sentence without its time. */
  readonly text?: string
  /** Since when it is so, or when it happened last. */
  readonly at?: string
}

/** A delivery may wait for its retries, or for a worker, for this long. */
const lateMs = 5 * 60_000

/** @param now in ms */
export function endpointState(endpoint: EndpointReport, now: number): EndpointState {
  const { is_configured, disabled_at, pending, failed, oldest_pending_at, last_success_at, last_failure } = endpoint
  if (!is_configured)
    return { kind: 'removed', word: 'not configured', tone: 'warn', text: waiting(pending, 'wait until it is again') }
  if (disabled_at !== null)
    return { kind: 'paused', word: 'paused', tone: 'warn', at: disabled_at, text: waiting(pending, 'wait') }
  const isFailing =
    last_failure !== null && (last_success_at === null || Date.parse(last_failure.at) > Date.parse(last_success_at))
  if (isFailing) {
    const { at, error, http_status } = last_failure
    return { kind: 'failing', word: 'failing', tone: 'bad', at, text: failureText(error, http_status) }
  }
  if (oldest_pending_at !== null && now - Date.parse(oldest_pending_at) > lateMs)
    return { kind: 'late', word: 'late', tone: 'warn', at: oldest_pending_at, text: waiting(pending, 'wait') }
  if (failed > 0) return { kind: 'missed', word: 'works again', tone: 'warn', text: missed(failed) }
  if (last_success_at === null) return { kind: 'unused', word: 'nothing sent yet', tone: 'quiet' }
  return { kind: 'healthy', word: 'healthy', tone: 'good', at: last_success_at }
}

const waiting = (pending: number, verb: string) =>
  pending === 0 ? 'nothing waits' : `${deliveriesText(pending)} ${pending === 1 ? verb.replace('wait', 'waits') : verb}`

const missed = (failed: number) =>
  `${deliveriesText(failed)} failed and ${failed === 1 ? 'was' : 'were'} not sent again`
