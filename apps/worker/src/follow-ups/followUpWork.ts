// One follow-up: finishes or asks, says in the log what came of it, and when to look again.
import type { PaymentEvent } from '@paylog/domain/payments/events'
import { type PaymentState, paymentFold } from '@paylog/domain/payments/payment'
import { paymentStream } from '@paylog/event-store/streamName'
import type { Provider } from '@paylog/providers/provider'
import type { Logger } from '@paylog/runtime/log'
import type { Workflow } from '@paylog/workflows/context'
import { type Reconciliation, reconcilePayment } from '@paylog/workflows/reconcilePayment'
import { settleStoredNotification } from '@paylog/workflows/settleNotification'
import type { FollowUp, NextLook } from './followUps.ts'
import { afterFailure, afterReconciliation, isAtEnd } from './nextLook.ts'

/** Does what an entry of the list asks for. Never throws: what went wrong is a reason to look again. */
export type FollowUpWork = (followUp: FollowUp, provider: Provider) => Promise<NextLook>

export function createFollowUpWork(deps: {
  readonly workflow: Workflow
  readonly reconcileAfterMs: number
  readonly log: Logger
}): FollowUpWork {
  const { workflow, reconcileAfterMs, log } = deps
  const pauses = () => ({ now: workflow.now(), reconcileAfterMs })

  async function lookAfterPayment(followUp: FollowUp, paymentId: string, provider: Provider): Promise<NextLook> {
    // The list may be behind the log: what has ended meanwhile is no question to a provider.
    const { state } = await workflow.store.load<PaymentState, PaymentEvent>(paymentStream(paymentId), paymentFold)
    if (state.status === 'none' || isAtEnd(state)) return 'over'
    const metadata = { correlationId: followUp.correlation_id, causationId: followUp.event_id, actor: 'worker' }
    const reconciled = await reconcilePayment(workflow, paymentId, metadata)
    const next = afterReconciliation(followUp, reconciled, provider, pauses())
    report(reconciled, next, provider)
    return next
  }

  function report(reconciled: Reconciliation, next: NextLook, { retrieveIntent }: Provider): void {
    const { payment, status_before, finding, problem } = reconciled
    const { payment_id, provider_id, status } = payment
    const about = { payment_id, provider_id, finding, status_before, status, problem }
    if (finding === 'late') log.info(about, 'a payment was brought up to date')
    else if (finding !== 'same') log.warn(about, 'a payment was followed up')
    if (next === 'over' && retrieveIntent && !isAtEnd(payment))
      log.info(about, 'a payment that is not paid is not looked after any longer')
  }

  async function settle({ subject }: FollowUp): Promise<NextLook> {
    if (!(await settleStoredNotification(workflow, subject))) throw new Error('Its provider is not enabled')
    log.info({ inbox: subject }, 'a notification that was left lying is applied')
    return 'over'
  }

  return async (followUp, provider) => {
    const { payment_id, subject } = followUp
    try {
      return payment_id === null ? await settle(followUp) : await lookAfterPayment(followUp, payment_id, provider)
    } catch (error) {
      log.warn({ err: error, ...(payment_id === null ? { inbox: subject } : { payment_id }) }, 'a follow-up broke off')
      return afterFailure(followUp, pauses())
    }
  }
}
