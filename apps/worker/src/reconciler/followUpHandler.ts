// Handles one follow-up: finishes the operation or queries the provider, logs the result, and plans the next look.

import type { Span } from '@opentelemetry/api'
import type { Workflow } from '@paylog/commands/context'
import { applyStoredNotification } from '@paylog/commands/notifications/notifications'
import { type CallOnPayment, expirePayment } from '@paylog/commands/payments/intentCalls'
import { type Reconciliation, reconcilePayment } from '@paylog/commands/payments/reconcilePayment'
import { paymentFold } from '@paylog/domain/payments/fold'
import { existingPayment, type Payment } from '@paylog/domain/payments/payment'
import { paymentStream } from '@paylog/event-store/streamName'
import { withPriority } from '@paylog/providers/pacing'
import type { Provider } from '@paylog/providers/provider'
import type { Logger } from '@paylog/runtime/telemetry/log'
import { inSpan, markFailed } from '@paylog/runtime/telemetry/spans'
import type { TrustedClock } from '../trustedClock.ts'
import { logExpiry } from './expiryLog.ts'
import type { FollowUp, NextCheck } from './followUps.ts'
import {
  afterFailure,
  afterPause,
  afterReconciliation,
  type CheckTiming,
  isFinal,
  isUrgent,
  maxSnapshotAgeMs,
  withExpiry,
} from './nextCheck.ts'

/** Handles a follow-up. Never throws: an error is a reason to look again. */
export type FollowUpHandler = (followUp: FollowUp, provider: Provider) => Promise<NextCheck>

export function createFollowUpHandler(deps: {
  readonly workflow: Workflow
  readonly reconcileAfterMs: number
  readonly clock: Pick<TrustedClock, 'agrees'>
  readonly log: Logger
}): FollowUpHandler {
  const { workflow, reconcileAfterMs, clock, log } = deps
  const timing = () => ({ now: workflow.now(), reconcileAfterMs })

  async function checkPayment(followUp: FollowUp, paymentId: string, provider: Provider): Promise<NextCheck> {
    // The list may lag behind the log: do not query the provider about a payment that ended meanwhile.
    const { state } = await workflow.store.load(paymentStream(paymentId), paymentFold)
    if (state.status === 'none' || (isFinal(state) && !state.has_unread_refunds)) return 'over'
    const metadata = { correlationId: followUp.correlation_id, causationId: followUp.event_id, actor: 'worker' }
    const isDue = followUp.times.expire !== null && followUp.times.expire <= workflow.now()
    const isTrusted = !isDue || (await clock.agrees(provider))
    // By a clock that is not trusted nothing is over: the payment stays due, until the clocks agree.
    const expiryTime = () => (isTrusted ? workflow.now() : new Date(0))
    if (isDue && isTrusted && mayExpire(state)) {
      const expired = await expire(followUp, { payment_id: paymentId, metadata })
      if (expired !== undefined) return expired
    } else if (isOnlyExpiryDue(followUp, workflow.now())) {
      const { times, pauses } = followUp
      return withExpiry({ times, pauses }, state, expiryTime())
    }
    const maxAgeMs = maxSnapshotAgeMs(followUp, timing())
    const reconciled = await reconcilePayment(workflow, paymentId, metadata, { maxAgeMs })
    const next = withExpiry(
      afterReconciliation(followUp, reconciled, provider, timing()),
      reconciled.payment,
      expiryTime(),
    )
    if (isGivenUp(next, reconciled.payment, provider) && !(await clock.agrees(provider)))
      return afterFailure(followUp, timing())
    logOutcome(followUp, { reconciled, next, provider })
    return next
  }

  /** @returns undefined when the payment has to be looked at: it could not be canceled, or the outcome is unknown */
  async function expire(followUp: FollowUp, request: CallOnPayment): Promise<NextCheck | undefined> {
    const ended = await expirePayment(workflow, request)
    logExpiry(log, ended, idsOf(followUp))
    return isFinal(existingPayment(ended.state)) ? 'over' : undefined
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
    if (isGivenUp(next, payment, provider)) log.info(fields, 'stopped watching an unpaid payment')
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
      (span) => unlessPaused(followUp, { provider, timing, handle: () => handle(followUp, provider, span) }),
    )
}

/** While the provider wants a pause, the follow-up goes back to the list, so that it takes nobody's place. */
async function unlessPaused(
  followUp: FollowUp,
  options: {
    readonly provider: Provider
    readonly timing: () => CheckTiming
    readonly handle: () => Promise<NextCheck>
  },
): Promise<NextCheck> {
  const { provider, timing, handle } = options
  const queued = { pausedMs: 0, wasThrottled: false }
  const handleOrWait = async () => {
    queued.pausedMs = provider.pausedMs?.() ?? 0
    return queued.pausedMs > 0 ? followUp : await handle()
  }
  // Urgent follow-ups go before looks at unpaid payments.
  const next = await withPriority(isUrgent(followUp) ? 'background' : 'reconciler', handleOrWait, queued)
  return queued.pausedMs > 0 ? afterPause(followUp, { next, ...queued }, timing()) : next
}

/** Whether nobody has paid for as long as we look. */
const isGivenUp = (next: NextCheck, payment: Payment, { retrieveIntent }: Provider) =>
  next === 'over' && retrieveIntent !== null && !isFinal(payment)

const mayExpire = ({ status }: Payment) => status === 'pending' || status === 'failed'

const isOnlyExpiryDue = ({ times: { finish, ask, watch } }: FollowUp, now: Date) =>
  ![finish, ask, watch].some((time) => time !== null && time <= now)

const kindOf = ({ payment_id }: FollowUp) => (payment_id === null ? 'notification' : 'payment')

const idsOf = ({ correlation_id, event_id }: FollowUp) => ({
  correlationId: correlation_id,
  causationId: event_id,
})

const attributesOf = ({ correlation_id }: FollowUp, { id }: Provider) => ({
  'paylog.correlation_id': correlation_id,
  'paylog.provider': id,
})
