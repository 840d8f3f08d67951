// One follow-up: finishes or asks, says in the log what came of it, and when to look again.
import type { Span } from '@opentelemetry/api'
import { paymentFold } from '@paylog/domain/payments/payment'
import { paymentStream } from '@paylog/event-store/streamName'
import { withPriority } from '@paylog/providers/pacing'
import type { Provider } from '@paylog/providers/provider'
import type { Logger } from '@paylog/runtime/telemetry/log'
import { inSpan, markFailed } from '@paylog/runtime/telemetry/spans'
import type { Workflow } from '@paylog/workflows/context'
import { applyStoredNotification } from '@paylog/workflows/notifications/settleNotification'
import { type Reconciliation, reconcilePayment } from '@paylog/workflows/payments/reconcilePayment'
import type { ReconcileTask, NextCheck } from './followUps.ts'
import { afterFailure, afterReconciliation, maxSnapshotAgeMs, isAtEnd, isUrgent } from './nextLook.ts'

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
