// Which streams the webhooks of a payment come from.
import { domainCodec, type Recorded } from '@paylog/event-store/codec/codec'
import { tryDecode } from '@paylog/event-store/codec/decoder'
import type { EventStore } from '@paylog/event-store/eventStore'
import { paymentStream, providerEventStream } from '@paylog/event-store/streamName'

const pageEvents = 500

/**
 * The stream of a payment, and those of its notifications that were stored on their own. Events that this program cannot decode are
 * skipped.
 * @param id as recorded
 * @throws DomainError `event_store_unavailable`
 */
export async function paymentStreams(store: EventStore, id: string): Promise<readonly string[]> {
  const own = paymentStream(id)
  const events: Recorded[] = []
  for (let from = 0n; ; ) {
    const page = await store.readRawPage(own, from, pageEvents)
    for (const event of page.events) {
      const decoded = tryDecode(domainCodec, event)
      if (!(decoded instanceof Error)) events.push(decoded)
    }
    const last = page.events.at(-1)
    if (page.isLast || last === undefined) return [own, ...storedNotifications(events).keys()]
    from = last.revision + 1n
  }
}

/**
 * The streams of notifications that were stored on their own, because they could not be applied when they arrived, each
 * with the first event of the payment that followed from it.
 * @param events of one payment
 */
export function storedNotifications(events: readonly Recorded[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const received = new Set<string>()
  for (const { type, data, id } of events) {
    if (!('provider_event_id' in data) || data.provider_event_id === null || !('provider_id' in data)) continue
    if (type === 'ProviderNotificationReceived') received.add(data.provider_event_id)
    const stream = providerEventStream(data.provider_id, data.provider_event_id)
    if (!received.has(data.provider_event_id) && !found.has(stream)) found.set(stream, id)
  }
  return found
}
