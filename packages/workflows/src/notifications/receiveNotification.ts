// A provider's notification: verified, and into the inbox. What happens to it then can be done again from there.
import { DomainError } from '@paylog/domain/errors'
import { notificationFold } from '@paylog/domain/provider-events/events'
import { newStream } from '@paylog/event-store/eventStore'
import { providerEventStream, type StreamName } from '@paylog/event-store/streamName'
import { type Provider, ProviderError, type SignedNotification } from '@paylog/providers/provider'
import type { Workflow } from '../context.ts'
import { notificationFacts, applyNotification } from './settleNotification.ts'
import { encodeBody } from './storedBody.ts'

export type IncomingNotification = Omit<SignedNotification, 'now'> & {
  readonly provider: Provider
  readonly requestId: string
}

export type ReceivedNotification = {
  /** Where it is kept; what comes of it names this as its cause. */
  readonly inbox: StreamName
  /** Why it is stored but not applied yet; the sweep will do it. */
  readonly postponed: unknown
}

/**
 * Verifies, stores and applies a notification. One that was applied before changes nothing.
 * @throws DomainError `invalid_signature`, `invalid_request`, `body_too_large`; `provider_unavailable`,
 *   `event_store_unavailable` when it could not be verified or stored, so that the provider has to send it again
 */
export async function receiveNotification(
  workflow: Workflow,
  { provider, body, headers, requestId }: IncomingNotification,
): Promise<ReceivedNotification> {
  const now = workflow.now()
  await verify(provider, { body, headers, now })
  const notification = provider.readNotification(body)
  const inbox = providerEventStream(provider.id, notification.provider_event_id)
  const metadata = { correlationId: requestId, causationId: inbox, actor: `provider:${provider.id}`, requestId }
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
    await applyNotification(workflow, { provider, notification, inbox, known: received, metadata })
    return { inbox, postponed: undefined }
  } catch (error) {
    return { inbox, postponed: error }
  }
}

async function verify(provider: Provider, notification: SignedNotification): Promise<void> {
  try {
    await provider.verifyNotification(notification)
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    throw new DomainError('provider_unavailable', 'The signature could not be checked; send it again', undefined, {
      cause: error,
    })
  }
}
