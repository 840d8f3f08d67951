// What an event means for the worker's list: when somebody has to look at its payment or its notification.
import { type PaymentEvent, paymentEvents } from '@paylog/domain/payments/events'
import { isNonStatusEvent, type NonStatusEvent } from '@paylog/domain/payments/payment'
import { type ProviderNotificationEvent, providerNotificationEvents } from '@paylog/domain/providerEvents'
import type { Recorded } from '@paylog/event-store/codec/codec'
import type { Provider } from '@paylog/providers/provider'

/**
 * The times of a follow-up, one for each need; each is set and cleared by itself.
 * `finish`: what was begun (a create call, the application of a notification) and has no known end.
 * `ask`: what the provider said leaves something to decide, or to do.
 * `watch`: nothing is known to be wrong, but nothing was heard for long.
 */
export type CheckTimes<Time> = { readonly finish: Time; readonly ask: Time; readonly watch: Time }

/** What an event changes about the times; what it does not name stays. */
export type ReconcilePlan = Partial<CheckTimes<Date | null>>

/** What is about a payment or a notification; nothing else leaves something to do. */
const reconciledEvents = { ...paymentEvents, ...providerNotificationEvents }
export type ReconciledEvent = PaymentEvent | ProviderNotificationEvent

export type PlanRules = {
  /** The enabled providers by their id; of one that is not enabled it is not known what it can be asked for. */
  readonly providers: ReadonlyMap<string, Pick<Provider, 'retrieveIntent' | 'captureIntent'>>
  /** How long nothing has to be heard of a payment before the provider is asked. */
  readonly reconcileAfterMs: number
}

/** The time that whoever is at it has to finish by himself. */
const openCallMs = 30_000
export const unknownOutcomeMs = 10_000

const nothingToDo: ReconcilePlan = { finish: null, ask: null, watch: null }

/**
 * The times that an event leads to, by its own time, so that it leads to the same ones whenever it is read.
 * @returns `null` when it changes nothing
 */
export function planOf(event: Recorded, rules: PlanRules): ReconcilePlan | null {
  return isReconciled(event) ? planOfReconciled(event, rules) : null
}

function isReconciled(event: Recorded): event is Recorded<ReconciledEvent> {
  return Object.hasOwn(reconciledEvents, event.type)
}

function planOfReconciled(event: ReconciledEvent, rules: PlanRules): ReconcilePlan | null {
  if (isNonStatusEvent(event)) return planOfNotedEvent(event, rules)
  switch (event.type) {
    case 'PaymentInitiated':
    case 'PaymentAttemptStarted':
      return { finish: after(event.data, openCallMs) }
    case 'ProviderEventReceived':
      return { finish: after({ occurred_at: event.data.received_at }, openCallMs) }
    case 'ProviderOutcomeUnknown':
    case 'ProviderCallThrottled':
      return { finish: after(event.data, unknownOutcomeMs) }
    case 'ProviderIntentCreated':
      return canBeRetrieved(event.data, rules)
        ? { finish: null, watch: after(event.data, rules.reconcileAfterMs) }
        : nothingToDo
    case 'PaymentProcessingStarted':
      return rules.providers.get(event.data.provider_id)?.captureIntent
        ? capture(event.data)
        : afterReport(event.data, rules)
    case 'PaymentActionRequired':
      return afterReport(event.data, rules)
    case 'PaymentAttemptFailed':
      return event.data.refusal === null ? afterReport(event.data, rules) : nothingToDo
    case 'PaymentSucceeded':
    case 'PaymentCanceled':
    case 'ProviderEventApplied':
    case 'ProviderEventAppliedToMethod':
    case 'ProviderEventUnmatched':
      return nothingToDo
  }
}

/** What is only noted leaves nothing to do, but for two that leave something to decide. */
function planOfNotedEvent(event: NonStatusEvent, rules: PlanRules): ReconcilePlan | null {
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

/** Something was heard that decides what was undecided; silence is counted from here. */
function afterReport(report: ProviderReport, rules: PlanRules): ReconcilePlan | null {
  return canBeRetrieved(report, rules) ? { ask: null, watch: after(report, rules.reconcileAfterMs) } : null
}

/**
 * The payer has approved. Who heard it as the answer to a question takes the money himself: to take it here at once as well
 * could go on for ever, when it fails.
 */
function capture(report: ProviderReport & { readonly provider_event_id: string | null }): ReconcilePlan {
  return { ask: after(report, report.provider_event_id === null ? openCallMs : 0) }
}

function after({ occurred_at }: Pick<ProviderReport, 'occurred_at'>, ms: number): Date {
  return new Date(Date.parse(occurred_at) + ms)
}
