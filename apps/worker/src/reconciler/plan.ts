// Plans follow-ups: when the worker has to look at a payment or notification after an event.

import { isNonStatusEvent, type NonStatusEvent } from '@paylog/domain/payments/duplicates'
import { type PaymentEvent, paymentEvents } from '@paylog/domain/payments/events'
import { isCreateRejected } from '@paylog/domain/payments/providerCall'
import { type ProviderNotificationEvent, providerNotificationEvents } from '@paylog/domain/providerEvents'
import type { Recorded } from '@paylog/event-store/codec/codec'
import type { Provider } from '@paylog/providers/provider'

/**
 * The times of a follow-up, one per need, set and cleared independently.
 * `finish`: an operation that was started (a create call, applying a notification) has not ended.
 * `ask`: the provider's report leaves a decision or an action open.
 * `watch`: the payment is open and got no report for long.
 * `expire`: the payment is canceled if nobody has paid it.
 */
export type CheckTimes<Time> = {
  readonly finish: Time
  readonly ask: Time
  readonly watch: Time
  readonly expire: Time
}

/** The times that an event changes; the others stay. */
export type ReconcilePlan = Partial<CheckTimes<Date | null>>

/** Only events of payments and notifications lead to follow-ups. */
const reconciledEvents = { ...paymentEvents, ...providerNotificationEvents }
export type ReconciledEvent = PaymentEvent | ProviderNotificationEvent

export type PlanRules = {
  /** The enabled providers by id. The capabilities of a disabled provider are unknown. */
  readonly providers: ReadonlyMap<string, Pick<Provider, 'retrieveIntent' | 'captureIntent'>>
  /** Time without a report after which the provider is queried. */
  readonly reconcileAfterMs: number
}

/** How long the process that started the call has to finish it itself. */
const openCallMs = 30_000
export const unknownOutcomeMs = 10_000

const nothingToDo: ReconcilePlan = { finish: null, ask: null, watch: null, expire: null }

/**
 * The follow-up times after an event. They depend only on the event's own time, so they do not change when it is read again.
 * @returns `null` when it changes nothing
 */
export function planOf(event: Recorded, rules: PlanRules): ReconcilePlan | null {
  return isReconciled(event) ? planOfPaymentOrNotification(event, rules) : null
}

function isReconciled(event: Recorded): event is Recorded<ReconciledEvent> {
  return Object.hasOwn(reconciledEvents, event.type)
}

function planOfPaymentOrNotification(event: ReconciledEvent, rules: PlanRules): ReconcilePlan | null {
  if (isNonStatusEvent(event)) return planOfNonStatusEvent(event, rules)
  switch (event.type) {
    case 'ProviderNotificationReceived':
      return null
    case 'PaymentInitiated': {
      const { expires_at } = event.data
      return { finish: after(event.data, openCallMs), ...(expires_at && { expire: new Date(expires_at) }) }
    }
    case 'PaymentAttemptStarted':
    case 'PaymentCancelRequested':
    case 'PaymentCaptureRequested':
    case 'RefundRequested':
    case 'ProviderEventReceived':
      return { finish: after(event.data, openCallMs) }
    case 'ProviderCallFailed':
      if (isCreateRejected(event.data)) return nothingToDo
      return event.data.outcome === 'rejected' ? null : { finish: after(event.data, unknownOutcomeMs) }
    case 'ProviderIntentCreated': {
      const watch = canBeRetrieved(event.data, rules) ? after(event.data, rules.reconcileAfterMs) : null
      return { finish: null, watch }
    }
    case 'PaymentProcessingStarted': {
      const isAuthorized = event.data.capturable_cents > 0
      return rules.providers.get(event.data.provider_id)?.captureIntent && !isAuthorized
        ? planCapture(event.data)
        : afterReport(event.data, rules)
    }
    case 'PaymentActionRequired':
    case 'PaymentAttemptFailed':
      return afterReport(event.data, rules)
    case 'PaymentSucceeded':
    case 'PaymentCanceled':
      // A report can arrive before the outcome of the create call is known. The call is finished all the same.
      return { ask: null, watch: null, expire: null }
    case 'ProviderEventApplied':
    case 'ProviderEventAppliedToMethod':
    case 'ProviderEventUnmatched':
      return nothingToDo
  }
}

/** Events that do not change the status: two of them leave something open. */
function planOfNonStatusEvent(event: NonStatusEvent, rules: PlanRules): ReconcilePlan | null {
  if (!canBeRetrieved(event.data, rules)) return null
  if (event.type === 'PaymentAmountMismatch') return { watch: after(event.data, rules.reconcileAfterMs) }
  const isUndecided =
    event.type === 'ProviderEventIgnored' && (event.data.reason === 'tie' || event.data.reason === 'regression')
  return isUndecided ? { ask: after(event.data, 0) } : null
}

type ProviderReport = { readonly provider_id: string; readonly occurred_at: string }

function canBeRetrieved({ provider_id }: ProviderReport, { providers }: PlanRules): boolean {
  return providers.get(provider_id)?.retrieveIntent !== null
}

/** A report settles open operations, and the time without reports starts again. */
function afterReport(report: ProviderReport, rules: PlanRules): ReconcilePlan | null {
  return canBeRetrieved(report, rules) ? { ask: null, watch: after(report, rules.reconcileAfterMs) } : null
}

/**
 * The payer has approved. If the approval came in the response to a call of ours, the caller captures it: capturing here
 * at once as well could loop when it fails.
 */
function planCapture(report: ProviderReport & { readonly provider_event_id: string | null }): ReconcilePlan {
  return { ask: after(report, report.provider_event_id === null ? openCallMs : 0) }
}

function after({ occurred_at }: Pick<ProviderReport, 'occurred_at'>, ms: number): Date {
  return new Date(Date.parse(occurred_at) + ms)
}
