// Finds what the log has of a person: the events that are sealed with their keys, or that name their user id.
import type { LogPosition } from '@paylog/domain/events'
import type { Recorded } from '@paylog/event-store/codec/codec'
import type { EventStore } from '@paylog/event-store/eventStore'
import { categories, categoryOf } from '@paylog/event-store/streamName'

/** These hold nothing of persons. */
const others: readonly string[] = ['product', 'erasure', 'auditTrail']
const prefixes = categories.filter((category) => !others.includes(category)).map((category) => `${category}-`)

export type PersonTraces = {
  /** The person's users: one, or all that were seen with their e-mail. */
  readonly userIds: readonly string[]
  /** The person's streams, in the order of their first event. */
  readonly streams: readonly string[]
  /** Payments of others in which the person is the guest. Only the guest data in them is the person's. */
  readonly guestStreams: readonly string[]
}

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
  const userIds = new Set(userId === undefined ? [] : [userId])
  let events = 0
  for await (const event of store.readLog({ prefixes })) {
    signal.throwIfAborted()
    events += 1
    onProgress({ events, position: event.position })
    const user = userOf(event)
    if (isOf(event, ids) || (user !== undefined && user === userId)) {
      streams.add(event.stream)
      if (user !== undefined) userIds.add(user)
    } else if (event.sealed.guest?.some((id) => ids.has(id))) guestStreams.add(event.stream)
  }
  return {
    userIds: [...userIds],
    streams: [...streams],
    guestStreams: [...guestStreams].filter((stream) => !streams.has(stream)),
  }
}

/** The first key of a part is that of the event's subject. */
const isOf = ({ sealed }: Recorded, ids: ReadonlySet<string>) =>
  Object.values(sealed).some(([subject]) => subject !== undefined && ids.has(subject))

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
