// All that is known of a person, for them: the events with opened data, and what the caller adds from elsewhere.
import { paymentEvents } from '@paylog/domain/payments/events'
import { sealedKeyword } from '@paylog/domain/personalData'
import type { Recorded } from '@paylog/event-store/codec/codec'
import type { EventStore } from '@paylog/event-store/eventStore'
import type { PersonTraces } from './personTraces.ts'

export type PersonEvents = {
  readonly streams: readonly { readonly stream: string; readonly events: readonly object[] }[]
  /** The person's part of payments that belong to others. */
  readonly guest_in_payments: readonly object[]
}

/**
 * The events of a person's streams, with their data opened.
 * @throws UnreadableEventError, DomainError `event_store_unavailable`, `service_unavailable`
 */
export async function readPersonEvents(
  store: Pick<EventStore, 'readStream'>,
  { streams, guestStreams }: PersonTraces,
): Promise<PersonEvents> {
  const own: PersonEvents['streams'][number][] = []
  for (const stream of streams) own.push({ stream, events: (await store.readStream(stream)).map(eventJson) })
  const guest: object[] = []
  for (const stream of guestStreams)
    guest.push(...(await store.readStream(stream)).flatMap((event) => (event.sealed.guest ? [guestJson(event)] : [])))
  return { streams: own, guest_in_payments: guest }
}

const eventJson = ({ id, type, revision, created, data, metadata }: Recorded) => ({
  ...{ id, type, revision: Number(revision), created: created.toISOString(), data, metadata },
})

const guestFields = Object.entries(paymentEvents.PaymentInitiated.properties).flatMap(([name, schema]) =>
  sealedKeyword in schema && schema[sealedKeyword] === 'guest' ? [name] : [],
)

/** Nothing else of the event is the guest's. */
function guestJson({ id, type, stream, created, data }: Recorded) {
  const known = Object.entries(data).filter(([name]) => guestFields.includes(name))
  return { ...{ id, type, stream, created: created.toISOString() }, data: Object.fromEntries(known) }
}
