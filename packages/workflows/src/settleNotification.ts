// From the inbox to the payment that a notification is about. Every step can be repeated.
import type { EventMetadata } from '@paylog/domain/messages'
import type { PaymentEvent } from '@paylog/domain/payments/events'
import { recordEvidence } from '@paylog/domain/payments/evidence'
import { recordDispute, recordRefund } from '@paylog/domain/payments/moneyBack'
import { type Payment, type PaymentState, paymentFold } from '@paylog/domain/payments/payment'
import { isForeignIntent } from '@paylog/domain/payments/statement'
import {
  intentOwnerFold,
  type Notification,
  notificationFold,
  type ProviderNotificationEvent,
} from '@paylog/domain/provider-events/events'
import type { Loaded } from '@paylog/event-store/eventStore'
import { paymentStream, providerIntentStream, type StreamName } from '@paylog/event-store/streamName'
import type { Provider, ProviderNotification, Statement } from '@paylog/providers/provider'
import type { Workflow } from './context.ts'
import { ownProviderId } from './providerCall.ts'
import { textOf } from './storedBody.ts'

export type StoredNotification = {
  readonly provider: Provider
  readonly notification: ProviderNotification
  readonly inbox: StreamName
  readonly known: Loaded<Notification>
  readonly metadata: EventMetadata
}

/**
 * Applies a notification that is in the inbox, unless that was done before.
 * @throws DomainError `event_store_unavailable`; ProviderError when the provider has to be asked and does not answer
 */
export async function settleNotification(workflow: Workflow, stored: StoredNotification): Promise<void> {
  const { provider, inbox, known, metadata } = stored
  if (known.state.state === 'settled') return
  const notification = (await provider.completeNotification?.(stored.notification)) ?? stored.notification
  const payment = await applyToPayment(workflow, provider, notification, metadata)
  await workflow.store.handle({
    stream: inbox,
    fold: notificationFold,
    decide: ({ state }) => (state === 'settled' ? [] : [settled(provider, notification, payment)]),
    metadata,
    known,
  })
}

/**
 * Applies a notification that was stored and, for whatever reason, not applied.
 * @returns false when its provider is not enabled, so that nobody can read it
 * @throws what `settleNotification` throws
 */
export async function settleStoredNotification(workflow: Workflow, inbox: StreamName): Promise<boolean> {
  const events = await workflow.store.readStream(inbox)
  const received = events.find((event) => event.type === 'ProviderEventReceived')
  const last = events.at(-1)
  if (!received || !last) return true
  const provider = workflow.providers.get(received.data.provider_id)
  if (!provider) return false
  const { correlationId } = received.metadata
  await settleNotification(workflow, {
    provider,
    notification: provider.readNotification(textOf(received.data)),
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

/** The payment that the notification is about, with what it says taken into account; nothing if it is not ours. */
async function applyToPayment(
  workflow: Workflow,
  provider: Provider,
  { statement, claimed_payment_id }: ProviderNotification,
  metadata: EventMetadata,
): Promise<Payment | undefined> {
  if (!statement) return undefined
  const owner = await ownerOf(workflow, provider, statement)
  const paymentId = owner ?? claimed_payment_id
  if (!paymentId) return undefined
  const stream = paymentStream(paymentId)
  const known: Loaded<PaymentState> = await workflow.store.load(stream, paymentFold)
  if (known.state.status === 'none' || known.state.provider_id !== provider.id) return undefined
  const occurred_at = workflow.now().toISOString()
  const heard = { ...statement, occurred_at, vouched: owner !== null }
  // Refunds and disputes may name the charge alone.
  const charge = newCharge(heard, known.state)
  if (charge !== null) await ownProviderId(workflow, known.state, charge, metadata)
  const { state } = await workflow.store.handle<PaymentState, PaymentEvent>({
    stream,
    fold: paymentFold,
    decide: (payment) => decide(provider, heard, payment),
    metadata,
    known,
  })
  return state.status === 'none' ? undefined : state
}

/** Whom our own records name: by the intent, or by the charge that came of one. */
async function ownerOf({ store }: Workflow, provider: Provider, statement: Statement): Promise<string | null> {
  for (const id of [statement.provider_intent_id, statement.provider_payment_id]) {
    if (id === null) continue
    const { state: owner } = await store.load(providerIntentStream(provider.id, id), intentOwnerFold)
    if (owner !== null) return owner
  }
  return null
}

type Heard = Statement & { readonly occurred_at: string; readonly vouched: boolean }

/** The charge that the statement names, if it is the payment's and the payment does not know it yet. */
function newCharge(heard: Heard, payment: Payment): string | null {
  const { provider_payment_id: charge, provider_intent_id } = heard
  if (charge === null || charge === provider_intent_id || charge === payment.provider_payment_id) return null
  return isForeignIntent(heard, payment) ? null : charge
}

function decide(provider: Provider, heard: Heard, payment: PaymentState): PaymentEvent[] {
  switch (heard.about) {
    case 'status': {
      const source = provider.retrieveIntent ? 'askable_notification' : 'notification'
      return recordEvidence({ ...heard, source }, payment)
    }
    case 'mention':
      return []
    case 'refund':
      return recordRefund(heard, payment)
    case 'dispute':
      return recordDispute(heard, payment)
  }
}

/** What every event about a notification says of it. */
export function notificationFacts(provider: Provider, notification: ProviderNotification) {
  const { provider_event_id, provider_type, generic_type, occurred_at } = notification
  return { provider_id: provider.id, provider_event_id, provider_type, generic_type, occurred_at }
}

function settled(
  provider: Provider,
  notification: ProviderNotification,
  payment: Payment | undefined,
): ProviderNotificationEvent {
  const { object_id, amount_cents, currency, status, customer_id, customer_email, subscription } = notification
  const facts = { ...notificationFacts(provider, notification), object_id, amount_cents, currency, status }
  if (!payment)
    return {
      type: 'ProviderEventUnmatched',
      data: { ...facts, customer_id, customer_email, ...(subscription === null ? {} : { subscription }) },
    }
  const { payment_id, payer, project_id } = payment
  return { type: 'ProviderEventApplied', data: { ...facts, payment_id, payer, project_id } }
}
