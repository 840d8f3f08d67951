// Decides which of several notifications is the first to report a fact that they share.
import { type SharedFact, sharedFactFold } from '@paylog/domain/providerEvents'
import { newStream } from '@paylog/event-store/eventStore'
import { sharedFactStream } from '@paylog/event-store/streamName'
import { sharedFactOf } from '@paylog/providers/sharedFact'
import type { Workflow } from '../context.ts'
import type { Notified } from '../payments/applyToPayment.ts'

/**
 * The fact that a notification reports and others may report too. The append to the fact's stream decides which one is the first,
 * also when they arrive at the same moment. A notification that is applied again stays the first.
 * @returns null when it reports none
 * @throws DomainError `event_store_unavailable`, `concurrent_modification`
 */
export async function sharedFactIn(
  { store, now }: Workflow,
  { provider, notification, metadata }: Notified,
): Promise<SharedFact | null> {
  const fact = sharedFactOf(notification)
  if (fact === null) return null
  const { kind, id: object_id } = fact
  const { provider_event_id } = notification
  if (object_id === null) return { kind, is_first: true }
  const occurred_at = now().toISOString()
  const data = { provider_id: provider.id, kind, object_id, provider_event_id, occurred_at }
  const { state: first } = await store.handle({
    stream: sharedFactStream(provider.id, kind, object_id),
    fold: sharedFactFold,
    decide: (reported) => (reported === null ? [{ type: 'ProviderFactReported', data }] : []),
    metadata,
    assumed: newStream(sharedFactFold),
  })
  return { kind, is_first: first === provider_event_id }
}
