// From the inbox to the payment or the payment method that a notification is about. Every step can be repeated.
import type { EventMetadata } from '@paylog/domain/messages'
import {
  type NotificationState,
  notificationFold,
  type ProviderNotificationEvent,
} from '@paylog/domain/provider-events/events'
import type { LoadedState } from '@paylog/event-store/eventStore'
import type { StreamName } from '@paylog/event-store/streamName'
import type { Provider, ProviderNotification } from '@paylog/providers/provider'
import type { Workflow } from '../context.ts'
import { applyToMethod } from '../payment-methods/applyToMethod.ts'
import { type AppliedPayment, applyToPayment } from '../payments/applyToPayment.ts'
import { decodeBody } from './storedBody.ts'

export type StoredNotification = {
  readonly provider: Provider
  readonly notification: ProviderNotification
  readonly inbox: StreamName
  readonly known: LoadedState<NotificationState>
  readonly metadata: EventMetadata
}

/**
 * Applies a notification that is in the inbox, unless that was done before.
 * @throws DomainError `event_store_unavailable`, `concurrent_modification`; ProviderError when the provider has to be asked
 *   and does not answer
 */
export async function applyNotification(workflow: Workflow, stored: StoredNotification): Promise<void> {
  const { provider, inbox, known, metadata } = stored
  if (known.state.state === 'settled') return
  const notification = (await provider.completeNotification?.(stored.notification)) ?? stored.notification
  const applied = await applyToPayment(workflow, provider, notification, metadata)
  const payment_method_id = await applyToMethod(workflow, provider, notification, metadata)
  await workflow.store.handle({
    stream: inbox,
    fold: notificationFold,
    decide: ({ state }) =>
      state === 'settled' ? [] : [appliedEvent(provider, notification, { applied, payment_method_id })],
    metadata,
    known,
  })
}

/**
 * Applies a notification that was stored and, for whatever reason, not applied.
 * @returns false when its provider is not enabled, so that nobody can read it
 * @throws what `settleNotification` throws
 */
export async function applyStoredNotification(workflow: Workflow, inbox: StreamName): Promise<boolean> {
  const events = await workflow.store.readStream(inbox)
  const received = events.find((event) => event.type === 'ProviderEventReceived')
  const last = events.at(-1)
  if (!received || !last) return true
  const provider = workflow.providers.get(received.data.provider_id)
  if (!provider) return false
  const { correlationId } = received.metadata
  await applyNotification(workflow, {
    provider,
    notification: provider.readNotification(decodeBody(received.data)),
    inbox,
    known: {
      state: { state: last.type === 'ProviderEventReceived' ? 'received' : 'settled' },
      revision: last.revision,
      position: last.position,
    },
    metadata: { correlationId, causationId: received.id, actor: 'worker' },
  })
  return true
}

/** What every event about a notification says of it. */
export function notificationFacts(provider: Provider, notification: ProviderNotification) {
  const { provider_event_id, provider_type, generic_type, occurred_at } = notification
  return { provider_id: provider.id, provider_event_id, provider_type, generic_type, occurred_at }
}

/** What the notification was about; nothing of ours when there is neither. */
type AppliedSubject = { readonly applied: AppliedPayment | undefined; readonly payment_method_id: string | null }

function appliedEvent(
  provider: Provider,
  notification: ProviderNotification,
  { applied, payment_method_id }: AppliedSubject,
): ProviderNotificationEvent {
  const { object_id, amount_cents, currency, status, customer_id, customer_email, subscription } = notification
  const facts = { ...notificationFacts(provider, notification), object_id }
  if (payment_method_id !== null) return { type: 'ProviderEventAppliedToMethod', data: { ...facts, payment_method_id } }
  const subject = { ...facts, amount_cents, currency, status }
  if (!applied)
    return {
      type: 'ProviderEventUnmatched',
      data: { ...subject, customer_id, customer_email, ...(subscription === null ? {} : { subscription }) },
    }
  const { payment_id, payer, project_id } = applied.payment
  const foreignIntent = applied.isForeignIntent ? ({ is_foreign_intent: true } as const) : {}
  return { type: 'ProviderEventApplied', data: { ...subject, payment_id, payer, project_id, ...foreignIntent } }
}
