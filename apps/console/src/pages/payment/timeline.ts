// The timeline of a payment: its events, who caused them, and the webhooks that followed.
import type { Delivery, HistoryEntry, PaymentStatus, RawEvent } from '../../api/apiTypes.ts'

export type TimelineItem = {
  readonly revision: number
  readonly type: string
  readonly occurred_at: string
  readonly actor: string
  readonly correlationId: string
  readonly causationId: string
  /** The event of this payment that led to it, if any. */
  readonly causedBy: { readonly revision: number; readonly type: string } | null
  /** Null for the notification of a provider, which by itself changes nothing. */
  readonly statusAfter: PaymentStatus | null
  readonly isNewStatus: boolean
  readonly data: Readonly<Record<string, unknown>>
  readonly deliveries: readonly Delivery[]
}

export type Timeline = {
  readonly items: readonly TimelineItem[]
  /** Webhooks about the payment that follow from none of its events, such as raw notifications of the provider. */
  readonly otherDeliveries: readonly Delivery[]
}

type Entry = Omit<TimelineItem, 'causedBy' | 'isNewStatus' | 'deliveries'> & { readonly id: string | undefined }

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/**
 * @param history the payment's events without notifications
 * @param events its recorded events, all of them; empty when they could not be read
 * @param deliveries the webhooks about it
 */
export function timelineOf(
  history: readonly HistoryEntry[],
  events: readonly RawEvent[],
  deliveries: readonly Delivery[],
): Timeline {
  const entries = entriesOf(history, events)
  const byId = new Map(entries.map((entry) => [entry.id, entry]))
  const followers = new Map<number, Delivery[]>()
  const otherDeliveries: Delivery[] = []
  for (const delivery of deliveries) {
    const { event_id, stream, revision } = delivery.source
    const isOfPayment = events[0] === undefined ? stream.startsWith('payment-') : stream === events[0].stream
    const source = byId.get(event_id) ?? entries.find((entry) => isOfPayment && entry.revision === revision)
    if (source === undefined) otherDeliveries.push(delivery)
    else followers.set(source.revision, [...(followers.get(source.revision) ?? []), delivery])
  }
  let status: PaymentStatus | null = null
  const items = entries.map(({ id: _id, ...entry }) => {
    const cause = byId.get(entry.causationId)
    const isNewStatus = entry.statusAfter !== null && entry.statusAfter !== status
    status = entry.statusAfter ?? status
    const causedBy = cause === undefined ? null : { revision: cause.revision, type: cause.type }
    return { ...entry, causedBy, isNewStatus, deliveries: followers.get(entry.revision) ?? [] }
  })
  return { items, otherDeliveries }
}

/**
 * A timeline as it was at a moment.
 * @param asOf now when undefined
 * @param last the revision of the last event of the history until then
 */
export function timelineAsOf({ items, otherDeliveries }: Timeline, asOf: string | undefined, last: number): Timeline {
  const isBy = (at: string) => asOf === undefined || Date.parse(at) <= Date.parse(asOf)
  const until = (deliveries: readonly Delivery[]) => deliveries.filter(({ created_at }) => isBy(created_at))
  return {
    items: items
      .filter(
        ({ revision, occurred_at, statusAfter }) => revision <= last || (statusAfter === null && isBy(occurred_at)),
      )
      .map((item) => ({ ...item, deliveries: until(item.deliveries) })),
    otherDeliveries: until(otherDeliveries),
  }
}

function entriesOf(history: readonly HistoryEntry[], events: readonly RawEvent[]): Entry[] {
  const raw = new Map(events.map((event) => [event.revision, event]))
  const shown = history.map((entry) => ({
    id: raw.get(entry.revision)?.id,
    revision: entry.revision,
    type: entry.type,
    occurred_at: entry.occurred_at,
    actor: entry.actor,
    correlationId: entry.correlation_id,
    causationId: entry.causation_id,
    statusAfter: entry.status_after,
    data: entry.data,
  }))
  const known = new Set(history.map(({ revision }) => revision))
  const notifications = events.filter(({ revision }) => !known.has(revision)).map(notificationOf)
  return [...shown, ...notifications].toSorted((a, b) => a.revision - b.revision)
}

function notificationOf({ id, revision, type, created, data = {}, metadata = {} }: RawEvent): Entry {
  return {
    id,
    revision,
    type,
    occurred_at: textOf(data.occurred_at) || created,
    actor: textOf(metadata.actor),
    correlationId: textOf(metadata.correlationId),
    causationId: textOf(metadata.causationId),
    statusAfter: null,
    data,
  }
}
