// Handles one follow-up: finishes the operation or queries the provider, logs the result, and plans the next look.

import type { Span } from '@opentelemetry/api'
import { isAbsorbing, openCallOf, type Payment } from '@paylog/domain/payments/payment'
import { paymentFold } from '@paylog/domain/payments/fold'
import { paymentStream } from '@paylog/event-store/streamName'
import { withPriority } from '@paylog/providers/pacing'
import type { Provider } from '@paylog/providers/provider'
import type { Logger } from '@paylog/runtime/telemetry/log'
import { inSpan, markFailed } from '@paylog/runtime/telemetry/spans'
import type { Workflow } from '@paylog/workflows/context'
import { applyStoredNotification } from '@paylog/workflows/notifications'
import { type Reconciliation, reconcilePayment } from '@paylog/workflows/payments/reconcilePayment'
import type { FollowUp, NextCheck } from './followUps.ts'
import { unknownOutcomeMs } from './plan.ts'

export type CheckTiming = {
  readonly now: Date
  /** Time without a report after which the provider is queried. */
  readonly reconcileAfterMs: number
}

/** Handles a follow-up. Never throws: an error is a reason to look again. */
export type FollowUpHandler = (followUp: FollowUp, provider: Provider) => Promise<NextCheck>

export function createFollowUpHandler(deps: {
  readonly workflow: Workflow
  readonly reconcileAfterMs: number
  readonly log: Logger
}): FollowUpHandler {
  const { workflow, reconcileAfterMs, log } = deps
  const timing = () => ({ now: workflow.now(), reconcileAfterMs })

  async function checkPayment(followUp: FollowUp, paymentId: string, provider: Provider): Promise<NextCheck> {
    // The list may lag behind the log: do not query the provider about a payment that ended meanwhile.
    const { state } = await workflow.store.load(paymentStream(paymentId), paymentFold)
    if (state.status === 'none' || isFinal(state)) return 'over'
    const metadata = { correlationId: followUp.correlation_id, causationId: followUp.event_id, actor: 'worker' }
    const maxAgeMs = maxSnapshotAgeMs(followUp, timing())
    const reconciled = await reconcilePayment(workflow, paymentId, metadata, { maxAgeMs })
    const next = afterReconciliation(followUp, reconciled, provider, timing())
    logOutcome(followUp, { reconciled, next, provider })
    return next
  }

  function logOutcome(
    followUp: FollowUp,
    { reconciled, next, provider }: { reconciled: Reconciliation; next: NextCheck; provider: Provider },
  ): void {
    const { payment, status_before, finding, problem } = reconciled
    const { payment_id, provider_id, status } = payment
    const fields = { payment_id, provider_id, finding, status_before, status, problem, ...idsOf(followUp) }
    if (finding === 'late') log.info(fields, 'updated a payment from its provider')
    else if (finding !== 'same') log.warn(fields, 'checked a payment at its provider')
    if (next === 'over' && provider.retrieveIntent && !isFinal(payment))
      log.info(fields, 'stopped watching an unpaid payment')
  }

  async function applyNotification(followUp: FollowUp): Promise<NextCheck> {
    const { subject } = followUp
    if (!(await applyStoredNotification(workflow, subject)))
      throw new Error('The provider of the notification is not enabled')
    log.info({ inbox: subject, ...idsOf(followUp) }, 'applied a stored notification')
    return 'over'
  }

  async function handle(followUp: FollowUp, provider: Provider, span: Span): Promise<NextCheck> {
    const { payment_id, subject } = followUp
    try {
      return payment_id === null
        ? await applyNotification(followUp)
        : await checkPayment(followUp, payment_id, provider)
    } catch (error) {
      markFailed(span, 'broke_off')
      const fields = payment_id === null ? { inbox: subject } : { payment_id }
      log.warn({ err: error, ...fields, ...idsOf(followUp) }, 'a follow-up failed')
      return afterFailure(followUp, timing())
    }
  }

  // Starts its own trace, since it may run repeatedly and days after the request. The correlation id links to the request.
  return (followUp, provider) =>
    inSpan(
      { name: `follow up ${kindOf(followUp)}`, root: true, attributes: attributesOf(followUp, provider) },
      // Urgent follow-ups go before looks at unpaid payments.
      (span) => withPriority(isUrgent(followUp) ? 'background' : 'reconciler', () => handle(followUp, provider, span)),
    )
}

const maxUrgentPauseMs = 10 * 60_000
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
  const isCallOpen = openCallOf(payment) !== null
  if (isFinal(payment) || (!isCallOpen && !provider.retrieveIntent)) return 'over'
  if (isCallOpen) return checkSoon(followUp, timing, { finish: true, ask: followUp.times.ask !== null })
  const awaitsCapture = payment.status === 'processing' && snapshot?.awaits_capture && finding !== 'amount_differs'
  const gotNoResponse = finding === 'unknown' || finding === 'unreachable'
  if (awaitsCapture || (gotNoResponse && isUrgent(followUp)))
    return checkSoon(followUp, timing, { finish: false, ask: true })
  if (isTooOld(payment, timing.now)) return 'over'
  // The payment needs no action, so a slow provider must not delay urgent follow-ups.
  return checkLater(followUp, timing, { startedAt: Date.parse(payment.attempt_started_at), gotNoResponse })
}

/** When to look again after a follow-up failed. */
export function afterFailure(followUp: FollowUp, timing: CheckTiming): NextCheck {
  const finish = followUp.times.finish !== null
  return checkSoon(followUp, timing, { finish, ask: !finish || followUp.times.ask !== null })
}

/** Whether nothing is left to do: no call is open, and the status is final or no intent was created. */
function isFinal(payment: Payment): boolean {
  return openCallOf(payment) === null && (isAbsorbing(payment.status) || payment.intent_outcome.kind === 'rejected')
}

function isTooOld({ created_at }: Payment, now: Date): boolean {
  return now.getTime() - Date.parse(created_at) > watchedForMs
}

function checkSoon(followUp: FollowUp, { now }: CheckTiming, needs: { finish: boolean; ask: boolean }): NextCheck {
  const pauses = isUrgent(followUp) ? followUp.pauses : 0
  const at = after(now, unknownOutcomeMs, pauses, maxUrgentPauseMs)
  return { times: { finish: needs.finish ? at : null, ask: needs.ask ? at : null, watch: null }, pauses: pauses + 1 }
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
  return { times: { finish: null, ask: null, watch: new Date(at) }, pauses: checks + 1 }
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

const isUrgent = ({ times }: FollowUp): boolean => times.finish !== null || times.ask !== null

function after(now: Date, firstMs: number, pauses: number, maxMs: number): Date {
  return new Date(now.getTime() + Math.min(firstMs * 2 ** pauses, maxMs))
}

const kindOf = ({ payment_id }: FollowUp) => (payment_id === null ? 'notification' : 'payment')

const idsOf = ({ correlation_id, event_id }: FollowUp) => ({
  correlationId: correlation_id,
  causationId: event_id,
})

const attributesOf = ({ correlation_id }: FollowUp, { id }: Provider) => ({
  'paylog.correlation_id': correlation_id,
  'paylog.provider': id,
})
