// Receives provider notifications: verify, store in the inbox stream, apply to the payment or payment method.
import { gunzipSync, gzipSync } from 'node:zlib'
import { DomainError } from '@paylog/domain/errors'
import type { EventMetadata } from '@paylog/domain/events'
import { type NotificationState, notificationFold, type ProviderNotificationEvent } from '@paylog/domain/providerEvents'
import { causedBy, type LoadedState, newStream } from '@paylog/event-store/eventStore'
import { providerEventStream, type StreamName } from '@paylog/event-store/streamName'
import {
  type Provider,
  ProviderError,
  type ProviderNotification,
  type SignedNotification,
} from '@paylog/providers/provider'
import type { Workflow } from './context.ts'
import { applyToMethod } from './payment-methods/applyToMethod.ts'
import { type AppliedPayment, applyToPayment } from './payments/applyToPayment.ts'

export type IncomingNotification = Omit<SignedNotification, 'now'> & {
  readonly provider: Provider
  readonly requestId: string
}

export type ReceivedNotification = {
  /** The stream that stores it. */
  readonly inbox: StreamName
  /** The error that kept a stored notification from being applied. The reconciler applies it later. */
  readonly postponed: unknown
}

type StoredNotification = {
  readonly provider: Provider
  readonly notification: ProviderNotification
  readonly inbox: StreamName
  readonly known: LoadedState<NotificationState>
  readonly metadata: EventMetadata
}

/** The payment or payment method that the notification concerns; neither if it is not ours. */
type AppliedSubject = { readonly applied: AppliedPayment | undefined; readonly payment_method_id: string | null }

/**
 * Verifies, stores and applies a notification. Applying one again changes nothing.
 * @throws DomainError `invalid_signature`, `invalid_request`, `body_too_large`; `provider_unavailable` or
 *   `event_store_unavailable` when it could not be verified or stored, and the provider must send it again
 */
export async function receiveNotification(
  workflow: Workflow,
  { provider, body, headers, requestId }: IncomingNotification,
): Promise<ReceivedNotification> {
  const now = workflow.now()
  await verify(provider, { body, headers, now })
  const notification = provider.readNotification(body)
  const inbox = providerEventStream(provider.id, notification.provider_event_id)
  const metadata = { correlationId: requestId, causationId: requestId, actor: `provider:${provider.id}`, requestId }
  const received = await workflow.store.handle({
    stream: inbox,
    fold: notificationFold,
    decide: ({ state }) =>
      state === 'none'
        ? [
            {
              type: 'ProviderEventReceived' as const,
              data: {
                ...notificationFacts(provider, notification),
                received_at: now.toISOString(),
                ...encodeBody(body),
              },
            },
          ]
        : [],
    metadata,
    known: newStream(notificationFold),
  })
  try {
    const following = causedBy(received, metadata)
    await applyNotification(workflow, { provider, notification, inbox, known: received, metadata: following })
    return { inbox, postponed: undefined }
  } catch (error) {
    return { inbox, postponed: error }
  }
}

/**
 * Applies a notification that was stored but not applied.
 * @returns false when its provider is not enabled
 * @throws DomainError `event_store_unavailable`, `concurrent_modification`; ProviderError when a query to the provider fails
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

async function verify(provider: Provider, notification: SignedNotification): Promise<void> {
  try {
    await provider.verifyNotification(notification)
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    throw new DomainError(
      'provider_unavailable',
      'The signature could not be verified; send the notification again',
      undefined,
      {
        cause: error,
      },
    )
  }
}

/**
 * Applies a stored notification to its payment or payment method, unless it is settled. Every step is idempotent.
 * @throws DomainError `event_store_unavailable`, `concurrent_modification`; ProviderError when a query to the provider fails
 */
async function applyNotification(workflow: Workflow, stored: StoredNotification): Promise<void> {
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

/** The fields that all events about a notification share. */
function notificationFacts(provider: Provider, notification: ProviderNotification) {
  const { provider_event_id, provider_type, generic_type, occurred_at } = notification
  return { provider_id: provider.id, provider_event_id, provider_type, generic_type, occurred_at }
}

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

/** Longer bodies are compressed: JSON escaped inside JSON can double in size, and an event holds at most 1 MiB. */
const maxUncompressedBytes = 256 * 1024

/** @param body UTF-8 text of at most 1 MiB */
function encodeBody(body: Buffer): { readonly body: string; readonly body_encoding?: 'gzip' } {
  if (body.length <= maxUncompressedBytes) return { body: body.toString('utf8') }
  return { body: gzipSync(body).toString('base64'), body_encoding: 'gzip' }
}

/** Reverses `encodeBody`. */
function decodeBody({ body, body_encoding }: ReturnType<typeof encodeBody>): Buffer {
  return body_encoding === 'gzip' ? gunzipSync(Buffer.from(body, 'base64')) : Buffer.from(body, 'utf8')
}
