// Plans the next look at a payment or notification after a follow-up.

import type { Reconciliation } from '@paylog/commands/payments/reconcilePayment'
import { mapFields } from '@paylog/domain/fields'
import { isAbsorbing, openCallsOf, type Payment } from '@paylog/domain/payments/payment'
import type { QueuedWork } from '@paylog/providers/pacing'
import type { Provider } from '@paylog/providers/provider'
import type { FollowUp, NextCheck } from './followUps.ts'
import { unknownOutcomeMs } from './plan.ts'

export type CheckTiming = {
  readonly now: Date
  /** Time without a report after which the provider is queried. */
  readonly reconcileAfterMs: number
}

const maxUrgentPauseMs = 10 * 60_000
/** Each pause is this much longer, so that an outage of a minute delays a payment by at most 25 s more. */
const urgentPauseGrowth = 1.25
/** Retry after a look without a response from the provider, so that an outage delays payments little. */
const noResponseRetryMs = 10 * 60_000
/** Payments unpaid for this long stay unpaid: payment links and tokens have expired. */
export const watchedForMs = 90 * 24 * 60 * 60_000
/** How often a payment is looked at before the last look, which is at the end of that time. */
const maxWatchChecks = 11
/** Looks at unpaid payments within this time may share a snapshot. */
const snapshotSharingMs = 60_000

/** When to look again after querying the provider, with or without a response. */
export function afterReconciliation(
  followUp: FollowUp,
  { payment, finding, snapshot }: Reconciliation,
  provider: Provider,
  timing: CheckTiming,
): NextCheck {
  const isCallOpen = openCallsOf(payment).length > 0
  const gotNoResponse = finding === 'unknown' || finding === 'unreachable'
  const isUnread = payment.has_unread_refunds && gotNoResponse
  if ((isFinal(payment) && !isUnread) || (!isCallOpen && !provider.retrieveIntent)) return 'over'
  if (isCallOpen) return checkSoon(followUp, timing, { finish: true, ask: followUp.times.ask !== null })
  const awaitsCapture = payment.status === 'processing' && snapshot?.awaits_capture && finding !== 'amount_differs'
  if (awaitsCapture || (gotNoResponse && isUrgent(followUp)))
    return checkSoon(followUp, timing, { finish: false, ask: true })
  if (isTooOld(payment, timing.now)) return 'over'
  // The payment needs no action, so a slow provider must not delay urgent follow-ups.
  return checkLater(followUp, timing, { startedAt: Date.parse(payment.create.started_at), gotNoResponse })
}

/** When to look again after a follow-up failed. */
export function afterFailure(followUp: FollowUp, timing: CheckTiming): NextCheck {
  const finish = followUp.times.finish !== null
  const next = checkSoon(followUp, timing, { finish, ask: !finish || followUp.times.ask !== null })
  const { expire } = followUp.times
  if (expire === null || next === 'over') return next
  const soon = next.times.finish ?? next.times.ask ?? expire
  return { ...next, times: { ...next.times, expire: new Date(Math.max(soon.getTime(), expire.getTime())) } }
}

/**
 * When to look again after the provider wanted a pause: when it is over. A call that was throttled itself waits longer, behind
 * those that were not made, and is a look at a payment that is only watched.
 */
export function afterPause(
  followUp: FollowUp,
  { next, pausedMs, wasThrottled }: QueuedWork & { readonly next: NextCheck },
  { now }: CheckTiming,
): NextCheck {
  if (next === 'over' || (wasThrottled && !isUrgent(followUp))) return next
  const { times, pauses } = followUp
  const over = new Date(now.getTime() + pausedMs)
  const at = wasThrottled ? after(over, unknownOutcomeMs, pauses, maxUrgentPauseMs) : over
  const later = (time: Date | null) => (time !== null && time < at ? at : time)
  return { times: mapFields(times, later), pauses: wasThrottled ? pauses + 1 : pauses }
}

/** How long after a failed attempt to cancel it an expired payment is canceled again. */
const expireAgainMs = 10 * 60_000
/** A payment that is processed does not expire, but may do so when it fails. */
const processingMs = 60 * 60_000

/** Keeps the time at which a payment that can still be paid expires. */
export function withExpiry(next: NextCheck, payment: Payment, now: Date): NextCheck {
  const { expires_at, status } = payment
  if (expires_at === null || isFinal(payment)) return next
  const pauseMs = status === 'processing' ? processingMs : expireAgainMs
  const isOver = Date.parse(expires_at) <= now.getTime()
  const expire = new Date(isOver ? now.getTime() + pauseMs : Date.parse(expires_at))
  const { times, pauses } = next === 'over' ? { times: noTimes, pauses: 0 } : next
  return { times: { ...times, expire }, pauses }
}

const noTimes = { finish: null, ask: null, watch: null, expire: null }

/** Whether nothing is left to do: no call is open, and the status is final or no intent was created. */
export function isFinal(payment: Payment): boolean {
  return openCallsOf(payment).length === 0 && (isAbsorbing(payment.status) || payment.create.outcome === 'rejected')
}

function isTooOld({ created_at }: Payment, now: Date): boolean {
  return now.getTime() - Date.parse(created_at) > watchedForMs
}

function checkSoon(followUp: FollowUp, { now }: CheckTiming, needs: { finish: boolean; ask: boolean }): NextCheck {
  const pauses = isUrgent(followUp) ? followUp.pauses : 0
  const at = after(now, unknownOutcomeMs, pauses, maxUrgentPauseMs)
  const times = { finish: needs.finish ? at : null, ask: needs.ask ? at : null }
  return { times: { ...noTimes, ...times }, pauses: pauses + 1 }
}

/**
 * The next of the scheduled looks at a payment, or an earlier one when the provider did not respond. The number of looks
 * is limited in any case: the last one is at the end of the watching time.
 */
function checkLater(
  followUp: FollowUp,
  { now, reconcileAfterMs }: CheckTiming,
  { startedAt, gotNoResponse }: { readonly startedAt: number; readonly gotNoResponse: boolean },
): NextCheck {
  const checks = isUrgent(followUp) ? 0 : followUp.pauses
  const isLast = checks >= maxWatchChecks
  const ages = isLast ? [watchedForMs] : watchAges(reconcileAfterMs)
  const next = ages.find((ageMs) => startedAt + ageMs > now.getTime())
  if (next === undefined) return 'over'
  const retryMs = Math.min(noResponseRetryMs, reconcileAfterMs) * 2 ** checks
  const at = gotNoResponse && !isLast ? Math.min(startedAt + next, now.getTime() + retryMs) : startedAt + next
  return { times: { ...noTimes, watch: new Date(at) }, pauses: checks + 1 }
}

/** The payment's ages at each look, in a geometric series: about doubling when watching starts after an hour. */
function watchAges(reconcileAfterMs: number): readonly number[] {
  const factor = (watchedForMs / reconcileAfterMs) ** (1 / (maxWatchChecks - 1))
  return Array.from({ length: maxWatchChecks }, (_, look) => Math.round(reconcileAfterMs * factor ** look))
}

/** How old a snapshot may be. Urgent follow-ups need one taken after they became due. */
export function maxSnapshotAgeMs(followUp: FollowUp, { now, reconcileAfterMs }: CheckTiming): number {
  const { finish, ask } = followUp.times
  const due = [finish, ask].filter((time) => time !== null).map((time) => now.getTime() - time.getTime())
  return due.length > 0 ? Math.max(0, Math.min(...due)) : Math.min(snapshotSharingMs, reconcileAfterMs / 10)
}

export const isUrgent = ({ times }: FollowUp): boolean => times.finish !== null || times.ask !== null

function after(now: Date, firstMs: number, pauses: number, maxMs: number): Date {
  return new Date(now.getTime() + Math.min(firstMs * urgentPauseGrowth ** pauses, maxMs))
}
