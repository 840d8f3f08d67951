// Receives provider notifications. One that names our payment is one append to its stream: the notification and what follows
// from it. Any other one has a separate stream; the provider is asked what it is about.
import { DomainError, type ErrorCode } from '@paylog/domain/errors'
import { isForeignIntent } from '@paylog/domain/payments/statusReports'
import { type NotificationState, notificationFold, type ProviderNotificationEvent } from '@paylog/domain/providerEvents'
import { causedBy, type HandledCommand, type LoadedState } from '@paylog/event-store/eventStore'
import { providerEventStream, type StreamName } from '@paylog/event-store/streamName'
import {
  type Provider,
  ProviderError,
  type ProviderNotification,
  type SignedNotification,
} from '@paylog/providers/provider'
import type { Workflow } from '../context.ts'
import { applyToMethod } from '../payment-methods/applyToMethod.ts'
import { applyCustomerDeletion } from '../payment-methods/deletedCustomer.ts'
import { applyToPayment, type Notified, recordInPayment } from '../payments/applyToPayment.ts'
import {
  eraseBodyOfErased,
  type NotificationOwner,
  ownerByBody,
  ownerByBooks,
  unknownOwner,
} from './notificationOwner.ts'
import { sharedFactIn } from './sharedFact.ts'

export type IncomingNotification = Omit<SignedNotification, 'now'> & {
  readonly provider: Provider
  readonly requestId: string
}

export type ReceivedNotification = Pick<ProviderNotification, 'provider_event_id' | 'provider_type'> & {
  /** The error that kept a stored notification from being applied. The reconciler applies it later. */
  readonly postponed: unknown
}

/** A verified notification. */
type Received = Notified & { readonly body: Buffer }

/** A notification in a separate stream. */
type Stored = LoadedState<NotificationState>

/**
 * Errors that a repeated notification need not meet. It would then be recorded in its payment: a copy that was stored
 * separately would be a second one, with webhooks of its own.
 */
const repeatable: ReadonlySet<ErrorCode> = new Set([
  'event_store_unavailable',
  'concurrent_modification',
  'service_unavailable',
])

/**
 * Verifies, stores and applies a notification. A repeated one changes nothing.
 * @throws DomainError `invalid_signature`, `invalid_request`, `body_too_large`; `provider_unavailable`,
 *   `event_store_unavailable`, `concurrent_modification` or `service_unavailable` when it could not be verified or stored, and
 *   the provider must send it again
 */
export async function receiveNotification(
  workflow: Workflow,
  { provider, body, headers, requestId }: IncomingNotification,
): Promise<ReceivedNotification> {
  await verify(provider, { body, headers, now: workflow.now() })
  const notification = provider.readNotification(body)
  const { provider_event_id, provider_type } = notification
  const metadata = { correlationId: requestId, causationId: requestId, actor: `provider:${provider.id}`, requestId }
  const received = { provider, notification, body, metadata }
  let owner = unknownOwner(provider, notification)
  let postponed: unknown
  try {
    const byBody = await ownerByBody(workflow, provider, notification)
    if (byBody.kind !== 'payment') owner = byBody
    else if (await recordInPayment(workflow, { ...received, body: body.toString() }, byBody.payment))
      return { provider_event_id, provider_type, postponed }
  } catch (error) {
    if (error instanceof DomainError && repeatable.has(error.code)) throw error
    postponed = error
  }
  const assumed = await workflow.store.load(streamOf(received), notificationFold)
  if (assumed.state.state === 'settled') return { provider_event_id, provider_type, postponed }
  let completed: Received | undefined
  try {
    // Before it is stored: of a person who was erased only the facts are recorded.
    if (!postponed) {
      completed = await complete(received)
      owner = await ownerByBooks(workflow, provider, completed.notification)
    }
  } catch (error) {
    completed = undefined
    postponed = error
  }
  const stored = await store(workflow, received, assumed, owner)
  try {
    if (completed) await settle(workflow, { ...completed, metadata: causedBy(stored, metadata) }, stored, owner)
  } catch (error) {
    postponed = error
  }
  return { provider_event_id, provider_type, postponed }
}

/**
 * Applies a notification that was stored but not applied.
 * @param stream the notification's own
 * @returns false when its provider is not enabled
 * @throws DomainError `event_store_unavailable`, `concurrent_modification`; ProviderError when a query to the provider fails
 */
export async function applyStoredNotification(workflow: Workflow, stream: StreamName): Promise<boolean> {
  const events = await workflow.store.readStream(stream)
  const first = events.find((event) => event.type === 'ProviderEventReceived')
  const last = events.at(-1)
  if (!first || !last) return true
  const provider = workflow.providers.get(first.data.provider_id)
  if (!provider) return false
  if (first.data.body === null) return true
  const body = Buffer.from(first.data.body)
  const metadata = { correlationId: first.metadata.correlationId, causationId: first.id, actor: 'worker' }
  const { revision, position } = last
  const stored = { state: { state: events.length === 1 ? 'received' : 'settled' }, revision, position } as const
  if (stored.state.state === 'settled') return true
  // One without a time of its own keeps the time at which it was received.
  const notification = { ...provider.readNotification(body), occurred_at: first.data.provider_time }
  const received = await complete({ provider, notification, body, metadata })
  await settle(workflow, received, stored, await ownerByBooks(workflow, provider, received.notification))
  return true
}

async function verify(provider: Provider, notification: SignedNotification): Promise<void> {
  try {
    await provider.verifyNotification(notification)
  } catch (cause) {
    if (!(cause instanceof ProviderError)) throw cause
    const message = 'The signature could not be verified; send the notification again'
    throw new DomainError('provider_unavailable', message, undefined, { cause })
  }
}

/** Asks the provider for what a notification lacks. @throws ProviderError when the query fails */
async function complete(received: Received): Promise<Received> {
  const { provider, notification } = received
  return { ...received, notification: (await provider.completeNotification?.(notification)) ?? notification }
}

/**
 * Applies a stored notification to what it is about, and records what that was. Every step is idempotent.
 * @throws DomainError `event_store_unavailable`, `concurrent_modification`; ProviderError when a query to the provider fails
 */
async function settle(workflow: Workflow, received: Received, stored: Stored, owner: NotificationOwner): Promise<void> {
  if (stored.state.state === 'settled') return
  const { metadata } = received
  const settled = await applied(workflow, received, owner)
  await workflow.store.handle({
    stream: streamOf(received),
    fold: notificationFold,
    decide: ({ state }) => (state === 'settled' ? [] : [settled]),
    metadata,
    assumed: stored,
    subject: owner.subject,
    owners: owner.owners,
  })
  if (owner.kind === 'payment') await eraseBodyOfErased(workflow, streamOf(received), owner.payment, metadata)
}

const streamOf = ({ provider, notification }: Received) =>
  providerEventStream(provider.id, notification.provider_event_id)

/** Stores a notification in a separate stream, unless it is stored. */
function store(
  workflow: Workflow,
  received: Received,
  assumed: Stored,
  owner: NotificationOwner,
): Promise<HandledCommand<NotificationState, ProviderNotificationEvent>> {
  return workflow.store.handle({
    stream: streamOf(received),
    fold: notificationFold,
    decide: ({ state }) => (state === 'none' ? [receivedEvent(workflow, received, owner)] : []),
    metadata: received.metadata,
    assumed,
    subject: owner.subject,
    owners: owner.owners,
  })
}

/** The fields that all events about a notification share. */
function factsOf({ now }: Workflow, { provider, notification }: Received) {
  const { provider_event_id, provider_type, generic_type, occurred_at: provider_time } = notification
  const occurred_at = now().toISOString()
  return { provider_id: provider.id, provider_event_id, provider_type, generic_type, provider_time, occurred_at }
}

function receivedEvent(
  workflow: Workflow,
  received: Received,
  { isErased }: NotificationOwner,
): ProviderNotificationEvent {
  const body = isErased ? null : received.body.toString()
  return { type: 'ProviderEventReceived', data: { ...factsOf(workflow, received), body } }
}

/** Applies a notification. @returns the event that says to what */
async function applied(
  workflow: Workflow,
  received: Received,
  owner: NotificationOwner,
): Promise<ProviderNotificationEvent> {
  const { provider, notification, metadata } = received
  const { object_id, amount_cents, currency, status, report, customer_id, subscription } = notification
  const facts = { ...factsOf(workflow, received), object_id }
  if (owner.kind === 'payment') {
    const payment = await applyToPayment(workflow, received, owner.payment)
    const { payment_id, payer, project_id } = payment
    const is_foreign_intent = report !== null && isForeignIntent(report, payment)
    const about = { amount_cents, currency, status, payment_id, payer, project_id, is_foreign_intent }
    return { type: 'ProviderEventApplied', data: { ...facts, ...about } }
  }
  if (owner.kind === 'method') {
    const { payment_method_id } = owner
    await applyToMethod(workflow, provider, notification, { ...owner, metadata })
    return { type: 'ProviderEventAppliedToMethod', data: { ...facts, payment_method_id } }
  }
  await applyCustomerDeletion(workflow, provider.id, notification, metadata)
  const customer_email = owner.isErased ? null : notification.customer_email
  const about = { amount_cents, currency, status, customer_id, customer_email, subscription: subscription ?? null }
  const shared_fact = await sharedFactIn(workflow, received)
  return { type: 'ProviderEventUnmatched', data: { ...facts, ...about, shared_fact } }
}
