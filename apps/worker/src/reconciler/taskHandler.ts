// When to look again, depending on how a follow-up ended.

import type { Span } from '@opentelemetry/api'
import { isAbsorbing, type Payment, paymentFold } from '@paylog/domain/payments/payment'
import { paymentStream } from '@paylog/event-store/streamName'
import { withPriority } from '@paylog/providers/pacing'
import type { Provider } from '@paylog/providers/provider'
import type { Logger } from '@paylog/runtime/telemetry/log'
import { inSpan, markFailed } from '@paylog/runtime/telemetry/spans'
import type { Workflow } from '@paylog/workflows/context'
import { applyStoredNotification } from '@paylog/workflows/notifications'
import { type Reconciliation, reconcilePayment } from '@paylog/workflows/payments/reconcilePayment'
import { unknownOutcomeMs } from './plan.ts'
import type { NextCheck, ReconcileTask } from './reconcileTasks.ts'

export type CheckTiming = {
  readonly now: Date
  /** How long nothing has to be heard of a payment before the provider is asked. */
  readonly reconcileAfterMs: number
}

const longestSoonMs = 10 * 60_000
/** After a look that the provider did not answer, so that an outage is over before long. */
const unansweredRetryMs = 10 * 60_000
/** A payment that is not paid by then will not be: nobody has its link or its token any more. */
export const watchedForMs = 90 * 24 * 60 * 60_000
/** Before the last one, which is at the end of that time. */
const maxWatchChecks = 11
/** For so long questions about payments that nobody paid may share an answer. */
const roundMs = 60_000

/** What is to come when a question to the provider was answered, or was not. */
export function afterReconciliation(
  followUp: ReconcileTask,
  { payment, finding, snapshot }: Reconciliation,
  provider: Provider,
  pauses: CheckTiming,
): NextCheck {
  const isCallOpen = payment.intent_outcome.kind !== 'created' && payment.intent_outcome.kind !== 'rejected'
  if (isAtEnd(payment) || (!isCallOpen && !provider.retrieveIntent)) return 'over'
  if (isCallOpen) return checkSoon(followUp, pauses, { finish: true, ask: followUp.times.ask !== null })
  const awaitsUs = payment.status === 'processing' && snapshot?.awaits_capture && finding !== 'amount_differs'
  const isUnanswered = finding === 'unknown' || finding === 'unreachable'
  if (awaitsUs || (isUnanswered && isUrgent(followUp))) return checkSoon(followUp, pauses, { finish: false, ask: true })
  if (isTooOld(payment, pauses.now)) return 'over'
  // Nothing is known to be wrong: whoever answers such a question late, or never, must not delay those that cannot wait.
  return checkLater(followUp, pauses, { startedAt: Date.parse(payment.attempt_started_at), isUnanswered })
}

/** What is to come when a follow-up broke off. */
export function afterFailure(followUp: ReconcileTask, pauses: CheckTiming): NextCheck {
  const finish = followUp.times.finish !== null
  return checkSoon(followUp, pauses, { finish, ask: !finish || followUp.times.ask !== null })
}

/** Whether the provider has nothing more to say about the payment: its status is final, or there never was an intent. */
function isAtEnd({ status, intent_outcome }: Payment): boolean {
  return isAbsorbing(status) || intent_outcome.kind === 'rejected'
}

function isTooOld({ created_at }: Payment, now: Date): boolean {
  return now.getTime() - Date.parse(created_at) > watchedForMs
}

function checkSoon(followUp: ReconcileTask, { now }: CheckTiming, needs: { finish: boolean; ask: boolean }): NextCheck {
  const pauses = isUrgent(followUp) ? followUp.pauses : 0
  const at = after(now, unknownOutcomeMs, pauses, longestSoonMs)
  return { times: { finish: needs.finish ? at : null, ask: needs.ask ? at : null, watch: null }, pauses: pauses + 1 }
}

/**
 * The next of the times at which a payment is looked at, or earlier when the provider did not answer. However the answers
 * are, there are few looks: the last of them waits for the end.
 */
function checkLater(
  followUp: ReconcileTask,
  { now, reconcileAfterMs }: CheckTiming,
  { startedAt, isUnanswered }: { readonly startedAt: number; readonly isUnanswered: boolean },
): NextCheck {
  const checks = isUrgent(followUp) ? 0 : followUp.pauses
  const isLast = checks >= maxWatchChecks
  const ages = isLast ? [watchedForMs] : watchAges(reconcileAfterMs)
  const next = ages.find((ageMs) => startedAt + ageMs > now.getTime())
  if (next === undefined) return 'over'
  const retryMs = Math.min(unansweredRetryMs, reconcileAfterMs) * 2 ** checks
  const at = isUnanswered && !isLast ? Math.min(startedAt + next, now.getTime() + retryMs) : startedAt + next
  return { times: { finish: null, ask: null, watch: new Date(at) }, pauses: checks + 1 }
}

/** The ages at which a payment is looked at, each longer than the one before by the same factor: about 2 after an hour. */
function watchAges(reconcileAfterMs: number): readonly number[] {
  const factor = (watchedForMs / reconcileAfterMs) ** (1 / (maxWatchChecks - 1))
  return Array.from({ length: maxWatchChecks }, (_, look) => Math.round(reconcileAfterMs * factor ** look))
}

/** How old the provider's answer may be. What cannot wait wants one that is newer than the need for it. */
export function maxSnapshotAgeMs(followUp: ReconcileTask, { now, reconcileAfterMs }: CheckTiming): number {
  const { finish, ask } = followUp.times
  const due = [finish, ask].filter((time) => time !== null).map((time) => now.getTime() - time.getTime())
  return due.length > 0 ? Math.max(0, Math.min(...due)) : Math.min(roundMs, reconcileAfterMs / 10)
}

const isUrgent = ({ times }: ReconcileTask): boolean => times.finish !== null || times.ask !== null

function after(now: Date, firstMs: number, pauses: number, longestMs: number): Date {
  return new Date(now.getTime() + Math.min(firstMs * 2 ** pauses, longestMs))
}

// One follow-up: finishes or asks, says in the log what came of it, and when to look again.

/** Does what an entry of the list asks for. Never throws: what went wrong is a reason to look again. */
export type ReconcileTaskHandler = (followUp: ReconcileTask, provider: Provider) => Promise<NextCheck>

export function createReconcileTaskHandler(deps: {
  readonly workflow: Workflow
  readonly reconcileAfterMs: number
  readonly log: Logger
}): ReconcileTaskHandler {
  const { workflow, reconcileAfterMs, log } = deps
  const pauses = () => ({ now: workflow.now(), reconcileAfterMs })

  async function checkPayment(followUp: ReconcileTask, paymentId: string, provider: Provider): Promise<NextCheck> {
    // The list may be behind the log: what has ended meanwhile is no question to a provider.
    const { state } = await workflow.store.load(paymentStream(paymentId), paymentFold)
    if (state.status === 'none' || isAtEnd(state)) return 'over'
    const metadata = { correlationId: followUp.correlation_id, causationId: followUp.event_id, actor: 'worker' }
    const maxAgeMs = maxSnapshotAgeMs(followUp, pauses())
    const reconciled = await reconcilePayment(workflow, paymentId, metadata, { maxAgeMs })
    const next = afterReconciliation(followUp, reconciled, provider, pauses())
    logOutcome(followUp, { reconciled, next, provider })
    return next
  }

  function logOutcome(
    followUp: ReconcileTask,
    { reconciled, next, provider }: { reconciled: Reconciliation; next: NextCheck; provider: Provider },
  ): void {
    const { payment, status_before, finding, problem } = reconciled
    const { payment_id, provider_id, status } = payment
    const about = { payment_id, provider_id, finding, status_before, status, problem, ...idsOf(followUp) }
    if (finding === 'late') log.info(about, 'a payment was brought up to date')
    else if (finding !== 'same') log.warn(about, 'a payment was followed up')
    if (next === 'over' && provider.retrieveIntent && !isAtEnd(payment))
      log.info(about, 'a payment that is not paid is not looked after any longer')
  }

  async function settle(followUp: ReconcileTask): Promise<NextCheck> {
    const { subject } = followUp
    if (!(await applyStoredNotification(workflow, subject))) throw new Error('Its provider is not enabled')
    log.info({ inbox: subject, ...idsOf(followUp) }, 'a notification that was left lying is applied')
    return 'over'
  }

  async function handle(followUp: ReconcileTask, provider: Provider, span: Span): Promise<NextCheck> {
    const { payment_id, subject } = followUp
    try {
      return payment_id === null ? await settle(followUp) : await checkPayment(followUp, payment_id, provider)
    } catch (error) {
      markFailed(span, 'broke_off')
      const about = payment_id === null ? { inbox: subject } : { payment_id }
      log.warn({ err: error, ...about, ...idsOf(followUp) }, 'a follow-up broke off')
      return afterFailure(followUp, pauses())
    }
  }

  // A trace of its own: it may come days after the request, and again and again. Its correlation id leads to the request.
  return (followUp, provider) =>
    inSpan(
      { name: `follow up ${kindOf(followUp)}`, root: true, attributes: attributesOf(followUp, provider) },
      // What cannot wait goes before questions about payments that nobody paid.
      (span) => withPriority(isUrgent(followUp) ? 'background' : 'reconciler', () => handle(followUp, provider, span)),
    )
}

const kindOf = ({ payment_id }: ReconcileTask) => (payment_id === null ? 'notification' : 'payment')

const idsOf = ({ correlation_id, event_id }: ReconcileTask) => ({
  correlationId: correlation_id,
  causationId: event_id,
})

const attributesOf = ({ correlation_id }: ReconcileTask, { id }: Provider) => ({
  'paylog.correlation_id': correlation_id,
  'paylog.provider': id,
})
