// Finds the payment of a notification among ours, and records the notification and its report in it.
import type { EventMetadata } from '@paylog/domain/events'
import { recordDispute } from '@paylog/domain/payments/disputes'
import type { PaymentEvent } from '@paylog/domain/payments/events'
import { paymentFold } from '@paylog/domain/payments/fold'
import { existingPayment, factsOf, type Payment, type PaymentState } from '@paylog/domain/payments/payment'
import { recordRefund, recordRefundedTotal } from '@paylog/domain/payments/refunds'
import { recordStatusAndReversals } from '@paylog/domain/payments/reversals'
import { isAppliedBefore, isForeignIntent, isIntentUndecided } from '@paylog/domain/payments/statusReports'
import type { LoadedState } from '@paylog/event-store/eventStore'
import { paymentStream } from '@paylog/event-store/streamName'
import type { Provider, ProviderNotification } from '@paylog/providers/provider'
import type { Workflow } from '../context.ts'

export type OwnPayment = LoadedState<PaymentState> & { readonly state: Payment }

/** @returns undefined if it is none of our payments at this provider */
export async function ownPayment(
  { store }: Workflow,
  provider: Provider,
  paymentId: string | null,
): Promise<OwnPayment | undefined> {
  if (paymentId === null) return undefined
  const { state, ...loaded } = await store.load(paymentStream(paymentId), paymentFold)
  return state.status !== 'none' && state.provider_id === provider.id ? { ...loaded, state } : undefined
}

/** A notification that is recorded, or about to be. */
export type Notified = {
  readonly provider: Provider
  readonly notification: ProviderNotification
  readonly metadata: EventMetadata
}

/**
 * Records the notification together with what follows from it, once.
 * @returns false when it cannot be assigned yet
 * @throws DomainError `event_store_unavailable`
 */
export async function recordInPayment(
  workflow: Workflow,
  received: Notified & { readonly body: string },
  assumed: OwnPayment,
): Promise<boolean> {
  const { notification, body } = received
  const { provider_event_id, provider_type, generic_type, report } = notification
  const payment = await handle(workflow, received, assumed, (payment, occurred_at) => {
    if (isAppliedBefore({ provider_event_id }, payment) || (report && isIntentUndecided(report, payment))) return []
    const data = {
      ...factsOf(payment, occurred_at),
      provider_time: notification.occurred_at,
      provider_event_id,
      provider_type,
      generic_type,
      object_id: notification.object_id,
      reported_intent_id: report?.provider_intent_id ?? null,
      reported_amount_cents: notification.amount_cents,
      reported_currency: notification.currency,
      reported_status: notification.status,
      is_foreign_intent: report !== null && isForeignIntent(report, payment),
      body,
    }
    return [{ type: 'ProviderNotificationReceived', data }, ...consequences(received, payment, occurred_at)]
  })
  return isAppliedBefore({ provider_event_id }, payment)
}

/**
 * Records what follows from a notification that was stored elsewhere.
 * @returns the payment afterwards
 * @throws DomainError `event_store_unavailable`
 */
export function applyToPayment(workflow: Workflow, notified: Notified, assumed: OwnPayment): Promise<Payment> {
  return handle(workflow, notified, assumed, (payment, at) => consequences(notified, payment, at))
}

async function handle(
  { store, now }: Workflow,
  { metadata }: Notified,
  assumed: OwnPayment,
  decide: (payment: Payment, occurred_at: string) => PaymentEvent[],
): Promise<Payment> {
  const { state } = await store.handle({
    stream: paymentStream(assumed.state.payment_id),
    fold: paymentFold,
    decide: (state) => decide(existingPayment(state), now().toISOString()),
    metadata,
    assumed,
  })
  return existingPayment(state)
}

function consequences({ provider, notification }: Notified, payment: Payment, occurred_at: string): PaymentEvent[] {
  if (!notification.report) return []
  const report = { ...notification.report, occurred_at }
  switch (report.about) {
    case 'status': {
      const source = provider.retrieveIntent ? 'queryable_notification' : 'notification'
      return recordStatusAndReversals({ ...report, source }, payment)
    }
    case 'object':
      return []
    case 'refund':
      return recordRefund(report, payment)
    case 'refunded_total':
      return recordRefundedTotal(report, payment)
    case 'dispute':
      return recordDispute(report, payment)
  }
}
