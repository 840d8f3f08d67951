// Finds what the log has of a person: the events that are sealed with their keys, or that name their user id.
import type { LogPosition } from '@paylog/domain/events'
import type { Recorded } from '@paylog/event-store/codec/codec'
import { keyOfStream } from '@paylog/event-store/codec/partKeys'
import type { EventStore } from '@paylog/event-store/eventStore'
import { categories, categoryOf, paymentStream } from '@paylog/event-store/streamName'

/** These hold nothing of persons. */
const others: readonly string[] = ['product', 'providerFact', 'erasure', 'clock']
const prefixes = categories.filter((category) => !others.includes(category)).map((category) => `${category}-`)

export type PersonTraces = {
  /** The person's users: one, or all that were seen with their e-mail. */
  readonly userIds: readonly string[]
  /** The person's streams, in the order of their first event. */
  readonly streams: readonly string[]
  /** Payments of others in which the person is the guest. Only the guest data in them is the person's. */
  readonly guestStreams: readonly string[]
  /** The keys of each provider body about their payments. Of some that 1.0.0 recorded none is the person's. */
  readonly bodies: readonly (readonly string[])[]
}

export const noTraces: PersonTraces = { userIds: [], streams: [], guestStreams: [], bodies: [] }

export type ScanProgress = { readonly events: number; readonly position: LogPosition }

/**
 * Reads the whole log.
 * @param store may have closed keys, because nothing is opened
 * @param person `userId` finds the rest of a user whose keys are destroyed
 * @throws UnreadableEventError, DomainError `event_store_unavailable`; the reason of the signal
 */
export async function findTraces(
  store: Pick<EventStore, 'readLog'>,
  { keyIds, userId }: { readonly keyIds: readonly string[]; readonly userId: string | undefined },
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: (progress: ScanProgress) => void },
): Promise<PersonTraces> {
  const ids = new Set(keyIds)
  const streams = new Set<string>()
  const guestStreams = new Set<string>()
  const bodies: (readonly string[])[] = []
  /** Of notifications of which it is not known yet what they are about. */
  const unsettled = new Map<string, readonly string[]>()
  const userIds = new Set(userId === undefined ? [] : [userId])
  const isOfPayment = ({ data }: Recorded, of: ReadonlySet<string>) =>
    'payment_id' in data && data.payment_id !== null && of.has(paymentStream(data.payment_id))
  let events = 0
  for await (const event of store.readLog({ prefixes })) {
    signal.throwIfAborted()
    events += 1
    onProgress({ events, position: event.position })
    const user = userOf(event)
    const body = event.sealed.body ?? unsettled.get(event.stream)
    unsettled.delete(event.stream)
    if (event.type === 'ProviderEventReceived' && body !== undefined) unsettled.set(event.stream, body)
    if (isOf(event, ids) || (user !== undefined && user === userId) || isOfPayment(event, streams)) {
      streams.add(event.stream)
      if (user !== undefined) userIds.add(user)
    } else if (isGuestIn(event, ids) || isOfPayment(event, guestStreams)) {
      guestStreams.add(event.stream)
    } else continue
    if (body !== undefined) bodies.push(body)
  }
  return {
    userIds: [...userIds],
    streams: [...streams],
    guestStreams: [...guestStreams].filter((stream) => !streams.has(stream)),
    bodies,
  }
}

/** The names of the keys that streams of the person have of their own: what they hold came before it was known whose it is. */
export const ownKeyNames = ({ streams, guestStreams }: PersonTraces) =>
  [...streams, ...guestStreams].flatMap((stream) =>
    ['payment', 'providerEvent'].includes(categoryOf(stream)) ? [keyOfStream(stream)] : [],
  )

/** The first key of a part is that of the event's subject. */
const isOf = ({ sealed }: Recorded, ids: ReadonlySet<string>) =>
  Object.values(sealed).some(([subject]) => subject !== undefined && ids.has(subject))

/** Other keys of a part are those of a guest, and of a day, which no person has. */
const isGuestIn = ({ sealed }: Recorded, ids: ReadonlySet<string>) =>
  Object.values(sealed).some((keyIds) => keyIds.some((id) => ids.has(id)))

/** The user that an event names as the one whose data it is. */
function userOf({ data }: Recorded): string | undefined {
  if ('payer' in data) return data.payer?.id ?? undefined
  if ('requested_by' in data) return data.requested_by.id
  return ('user_id' in data && data.user_id) || undefined
}

/** The ids in the streams of a category. */
export function idsOf({ streams }: Pick<PersonTraces, 'streams'>, category: (typeof categories)[number]) {
  return streams.flatMap((stream) => (categoryOf(stream) === category ? [stream.slice(category.length + 1)] : []))
}
