// When to look again, depending on how a follow-up ended.
import type { Payment } from '@paylog/domain/payments/payment'
import { isAbsorbing } from '@paylog/domain/payments/status'
import type { Provider } from '@paylog/providers/provider'
import type { Reconciliation } from '@paylog/workflows/payments/reconcilePayment'
import type { FollowUp, NextLook } from './followUps.ts'
import { unknownOutcomeMs } from './plan.ts'

export type Pauses = {
  readonly now: Date
  /** How long nothing has to be heard of a payment before the provider is asked. */
  readonly reconcileAfterMs: number
}

const longestSoonMs = 10 * 60_000
/** After a look that the provider did not answer, so that an outage is over before long. */
const unansweredWatchMs = 10 * 60_000
const longestWatchMs = 24 * 60 * 60_000
/** A payment that is not paid by then will not be: nobody has its link or its token any more. */
export const watchedForMs = 90 * 24 * 60 * 60_000

/** What is to come when a question to the provider was answered, or was not. */
export function afterReconciliation(
  followUp: FollowUp,
  { payment, finding, snapshot }: Reconciliation,
  provider: Provider,
  pauses: Pauses,
): NextLook {
  const isCallOpen = payment.intent_outcome.kind === 'open' || payment.intent_outcome.kind === 'unknown'
  if (isAtEnd(payment) || (!isCallOpen && !provider.retrieveIntent)) return 'over'
  if (isCallOpen) return soon(followUp, pauses, { finish: true, ask: followUp.times.ask !== null })
  const awaitsUs = payment.status === 'processing' && snapshot?.awaits_capture && finding !== 'amount_differs'
  const isUnanswered = finding === 'unknown' || finding === 'unreachable'
  if (awaitsUs || (isUnanswered && isSoon(followUp))) return soon(followUp, pauses, { finish: false, ask: true })
  if (isTooOld(payment, pauses.now)) return 'over'
  // Nothing is known to be wrong: whoever answers such a question late, or never, must not delay those that cannot wait.
  return watch(followUp, pauses, isUnanswered ? unansweredWatchMs : pauses.reconcileAfterMs)
}

/** What is to come when a follow-up broke off. */
export function afterFailure(followUp: FollowUp, pauses: Pauses): NextLook {
  const finish = followUp.times.finish !== null
  return soon(followUp, pauses, { finish, ask: !finish || followUp.times.ask !== null })
}

/** Whether the provider has nothing more to say about the payment: its status is final, or there never was an intent. */
export function isAtEnd({ status, intent_outcome }: Payment): boolean {
  return isAbsorbing(status) || intent_outcome.kind === 'refused'
}

function isTooOld({ created_at }: Payment, now: Date): boolean {
  return now.getTime() - Date.parse(created_at) > watchedForMs
}

function soon(followUp: FollowUp, { now }: Pauses, needs: { finish: boolean; ask: boolean }): NextLook {
  const pauses = isSoon(followUp) ? followUp.pauses : 0
  const at = after(now, unknownOutcomeMs, pauses, longestSoonMs)
  return { times: { finish: needs.finish ? at : null, ask: needs.ask ? at : null, watch: null }, pauses: pauses + 1 }
}

function watch(followUp: FollowUp, { now, reconcileAfterMs }: Pauses, firstMs: number): NextLook {
  const pauses = isSoon(followUp) ? 0 : followUp.pauses
  const at = after(now, Math.min(firstMs, reconcileAfterMs), pauses, Math.max(longestWatchMs, reconcileAfterMs))
  return { times: { finish: null, ask: null, watch: at }, pauses: pauses + 1 }
}

const isSoon = ({ times }: FollowUp) => times.finish !== null || times.ask !== null

function after(now: Date, firstMs: number, pauses: number, longestMs: number): Date {
  return new Date(now.getTime() + Math.min(firstMs * 2 ** pauses, longestMs))
}
