// The timeline of a payment, and its events up to a point in time.
import { type Static, Type } from 'typebox'
import type { EventMetadata } from '../events.ts'
import { ClientObject, Instant } from '../fields.ts'
import type { PaymentEvent } from './events.ts'
import { paymentFold } from './fold.ts'
import { existingPayment, noSecrets, type PaymentState, PaymentStatus } from './payment.ts'

/** One event of a payment in the audit API. */
export const HistoryEntry = Type.Object(
  {
    position: Type.String({
      pattern: '^[0-9]+$',
      description: 'Position of the event in the log, as in X-Event-Position',
    }),
    revision: Type.Integer({
      minimum: 0,
      description: 'Revision of the payment right after the event, as in its ETag',
    }),
    type: Type.String({ description: 'Type of the event' }),
    occurred_at: Instant,
    actor: Type.String({
      description:
        'Who caused it: `session:<user id>`, `guest`, `anonymous`, `provider:<name>`, `operator` or `worker`',
    }),
    correlation_id: Type.String({ description: 'Id of the request or notification that it is part of' }),
    causation_id: Type.String({ description: 'Id of the event or request that led to it' }),
    status_after: PaymentStatus,
    data: ClientObject({ description: 'Data of the event; the fields depend on its type' }),
  },
  { title: 'HistoryEntry' },
)
export type HistoryEntry = Static<typeof HistoryEntry>

/** A payment event with its revision, position and metadata. */
export type RecordedPaymentEvent = PaymentEvent & {
  readonly revision: bigint
  readonly position: { readonly commit: bigint }
  readonly metadata: EventMetadata
}

/**
 * The history of a payment: what happened to it. The notifications that led to it are left out.
 * @param events all events of one payment, in stream order
 * @throws DomainError `not_found` when the first event is not PaymentInitiated
 */
export function paymentHistory(events: readonly RecordedPaymentEvent[]): HistoryEntry[] {
  return paymentTimeline(events).filter(({ type }) => type !== 'ProviderNotificationReceived')
}

/** The entry with null for what lets its holder pay. */
export function withoutSecrets(entry: HistoryEntry): HistoryEntry {
  const hidden = Object.keys(noSecrets).filter((name) => Object.hasOwn(entry.data, name))
  return { ...entry, data: { ...entry.data, ...Object.fromEntries(hidden.map((name) => [name, null])) } }
}

/** One entry for each event, also for the notifications. Parameters and errors as of `paymentHistory`. */
export function paymentTimeline(events: readonly RecordedPaymentEvent[]): HistoryEntry[] {
  let state: PaymentState = paymentFold.initialState
  return events.map((event) => {
    state = paymentFold.evolve(state, event)
    return {
      position: event.position.commit.toString(),
      revision: Number(event.revision),
      type: event.type,
      occurred_at: event.data.occurred_at,
      actor: event.metadata.actor,
      correlation_id: event.metadata.correlationId,
      causation_id: event.metadata.causationId,
      status_after: existingPayment(state).status,
      data: event.data,
    }
  })
}

/**
 * The events of a stream before the first one that occurred later. Clocks differ between machines, so an event may have an
 * earlier time than the one before it; the order of the stream counts.
 * @param events of one stream, in its order
 * @param time in ms since 1970, itself included
 */
export function eventsUntil<Event extends { readonly data: { readonly occurred_at: string } }>(
  events: readonly Event[],
  time: number,
): readonly Event[] {
  const end = events.findIndex(({ data }) => Date.parse(data.occurred_at) > time)
  return end < 0 ? events : events.slice(0, end)
}
