// A provider's notification: into the inbox first, then to the payment that it is about. Every step can be repeated.
import type { EventMetadata } from '@paylog/domain/messages'
import type { PaymentEvent } from '@paylog/domain/payments/events'
import { recordEvidence } from '@paylog/domain/payments/evidence'
import { type Payment, type PaymentState, paymentFold } from '@paylog/domain/payments/payment'
import {
  intentOwnerFold,
  type Notification,
  notificationFold,
  type ProviderNotificationEvent,
} from '@paylog/domain/provider-events/events'
import { type Loaded, newStream } from '@paylog/event-store/eventStore'
import { paymentStream, providerEventStream, providerIntentStream } from '@paylog/event-store/streamName'
import type { Provider, ProviderNotification } from '@paylog/providers/provider'
import type { Workflow } from './context.ts'
import { storedBody } from './storedBody.ts'

export type IncomingNotification = {
  readonly provider: Provider
  readonly body: Buffer
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly requestId: string
}

/**
 * Verifies, stores and applies a notification. One that was applied before changes nothing.
 * @throws DomainError `invalid_signature`, `invalid_request`, `body_too_large`, `event_store_unavailable`
 */
export async function receiveNotification(workflow: Workflow, incoming: IncomingNotification): Promise<void> {
  const { provider, body, headers, requestId } = incoming
  const now = workflow.now()
  const notification = await provider.readNotification({ body, headers, now })
  const inbox = providerEventStream(provider.id, notification.provider_event_id)
  const metadata = { correlationId: requestId, causationId: inbox, actor: `provider:${provider.id}`, requestId }
  const settle = (known: Loaded<Notification>, decide: (inboxState: Notification) => ProviderNotificationEvent[]) =>
    workflow.store.handle({ stream: inbox, fold: notificationFold, decide, metadata, known })

  const facts = factsOf(provider, notification)
  const received = await settle(newStream(notificationFold), ({ state }) =>
    state === 'none'
      ? [
          {
            type: 'ProviderEventReceived',
            data: { ...facts, received_at: now.toISOString(), ...storedBody(body) },
          },
        ]
      : [],
  )
  if (received.state.state === 'settled') return
  const payment = await applyToPayment(workflow, provider, notification, metadata)
  await settle(received, ({ state }) => (state === 'settled' ? [] : [settled(facts, notification, payment)]))
}

/** The payment that the notification is about, with what it says taken into account; nothing if it is not ours. */
async function applyToPayment(
  { store, now }: Workflow,
  provider: Provider,
  notification: ProviderNotification,
  metadata: EventMetadata,
): Promise<Payment | undefined> {
  const { evidence, claimed_payment_id } = notification
  const intentId = evidence?.provider_intent_id ?? null
  const owner =
    intentId === null ? null : (await store.load(providerIntentStream(provider.id, intentId), intentOwnerFold)).state
  const paymentId = owner ?? claimed_payment_id
  if (!evidence || !paymentId) return undefined
  const { state } = await store.handle<PaymentState, PaymentEvent>({
    stream: paymentStream(paymentId),
    fold: paymentFold,
    decide: (payment) =>
      payment.status === 'none' || payment.provider_id !== provider.id
        ? []
        : recordEvidence({ ...evidence, occurred_at: now().toISOString(), vouched: owner !== null }, payment),
    metadata,
  })
  return state.status === 'none' || state.provider_id !== provider.id ? undefined : state
}

function factsOf(provider: Provider, notification: ProviderNotification) {
  const { provider_event_id, provider_type, generic_type, occurred_at } = notification
  return { provider_id: provider.id, provider_event_id, provider_type, generic_type, occurred_at }
}

function settled(
  facts: ReturnType<typeof factsOf>,
  notification: ProviderNotification,
  payment: Payment | undefined,
): ProviderNotificationEvent {
  const { object_id, amount_cents, currency, status, customer_id, customer_email } = notification
  const subject = { object_id, amount_cents, currency, status }
  if (!payment) return { type: 'ProviderEventUnmatched', data: { ...facts, ...subject, customer_id, customer_email } }
  const { payment_id, payer, project_id } = payment
  return { type: 'ProviderEventApplied', data: { ...facts, ...subject, payment_id, payer, project_id } }
}
