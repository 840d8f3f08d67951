// What happened to a payment, event by event, and how much of it had happened by a point in time.
import { type Static, Type } from 'typebox'
import type { EventMetadata } from '../events.ts'
import { ClientObject, Instant } from '../fields.ts'
import type { PaymentEvent } from './events.ts'
import { existingPayment, type PaymentState, PaymentStatus, paymentFold } from './payment.ts'

/** One event of a payment as administrators and auditors see it. */
export const HistoryEntry = Type.Object({
  position: Type.String({ pattern: '^[0-9]+$', description: 'Of the event in the whole log, as X-Event-Position' }),
  revision: Type.Integer({ minimum: 0, description: 'Of the payment right after the event, as in its ETag' }),
  type: Type.String({ description: 'What happened' }),
  occurred_at: Instant,
  actor: Type.String({
    description:
      'Who caused it: `session:` and a user id, `guest`, `anonymous`, `provider:` and a name, `operator` or `worker`',
  }),
  correlation_id: Type.String({ description: 'Of the request or notification that it is part of' }),
  causation_id: Type.String({ description: 'Of the event or request that led to it' }),
  status_after: PaymentStatus,
  data: ClientObject({ description: 'The event in the newest shape of its type, on which its fields depend' }),
})
export type HistoryEntry = Static<typeof HistoryEntry>

/** An event of a payment with what the log knows about it. */
export type RecordedPaymentEvent = PaymentEvent & {
  readonly revision: bigint
  readonly position: { readonly commit: bigint }
  readonly metadata: EventMetadata
}

/**
 * The timeline of a payment.
 * @param events of one payment, in the order of its stream, from the first one on
 * @throws DomainError `not_found` should the first event not be the payment's beginning
 */
export function paymentHistory(events: readonly RecordedPaymentEvent[]): HistoryEntry[] {
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
 * The events of a stream up to the first one that occurred later. Clocks of different machines differ, so that an event may
 * be older than the one before it; as its stream tells it happened after that one all the same.
 * @param events of one stream in its order
 * @param time in ms since 1970, itself included
 */
export function eventsUntil<Event extends { readonly data: { readonly occurred_at: string } }>(
  events: readonly Event[],
  time: number,
): readonly Event[] {
  const end = events.findIndex(({ data }) => Date.parse(data.occurred_at) > time)
  return end < 0 ? events : events.slice(0, end)
}
