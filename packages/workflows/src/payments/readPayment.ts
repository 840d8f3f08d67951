// A payment as the log has it, at present or as of a time, and the saved method that it is made with as of the same time.

import { recordedOwner } from '@paylog/domain/actor'
import { recordedId } from '@paylog/domain/fields'
import {
  type PaymentMethodSummary,
  paymentMethodFold,
  paymentMethodSummary,
} from '@paylog/domain/payment-methods/paymentMethod'
import { type PaymentEvent, paymentEvents } from '@paylog/domain/payments/events'
import { eventsUntil, type RecordedPaymentEvent } from '@paylog/domain/payments/history'
import { existingPayment, type Payment, type PaymentState, paymentFold } from '@paylog/domain/payments/payment'
import { type PaymentResource, paymentResource } from '@paylog/domain/payments/resource'
import { type Recorded, UnreadableEventError } from '@paylog/event-store/codec/codec'
import type { EventStore } from '@paylog/event-store/eventStore'
import type { ReadRange } from '@paylog/event-store/read/reads'
import { paymentMethodStream, paymentStream } from '@paylog/event-store/streamName'
import { isMethodEvent } from '../payment-methods/savedMethod.ts'

/**
 * The events of one payment in order; none when there is no such payment.
 * @param id as it is recorded
 * @throws UnreadableEventError, also for an event that is nothing that happens to payments; DomainError
 *   `event_store_unavailable`
 */
export async function readPaymentEvents(
  store: EventStore,
  id: string,
  range?: ReadRange,
): Promise<readonly RecordedPaymentEvent[]> {
  const events = await store.readStream(paymentStream(id), range)
  return events.map((event) => {
    if (isPaymentEvent(event)) return event
    const { stream, revision, type } = event
    throw new UnreadableEventError(`event ${event.id} (${type}, ${stream}@${revision}) is no event of a payment`)
  })
}

function isPaymentEvent(event: Recorded): event is Recorded<PaymentEvent> {
  return Object.hasOwn(paymentEvents, event.type)
}

/**
 * A payment as clients see it, after these of its events.
 * @param events the first ones of its stream
 * @param time what the summary of its method is as of, in ms since 1970; the present when it is left out
 * @throws DomainError `not_found` for no events, `event_store_unavailable`; UnreadableEventError
 */
export async function paymentAfter(
  store: EventStore,
  events: readonly PaymentEvent[],
  time = Number.POSITIVE_INFINITY,
): Promise<PaymentResource> {
  const payment = existingPayment(events.reduce<PaymentState>(paymentFold.evolve, paymentFold.initialState))
  return paymentResource(payment, await methodOf(store, payment, time))
}

/** The saved method of the payment, removed or not; `null` for a test method, and for one that is not the payer's. */
async function methodOf(
  store: EventStore,
  { payment_method_id, payer, guest_email }: Payment,
  time: number,
): Promise<PaymentMethodSummary | null> {
  const id = payment_method_id === null ? null : recordedId(payment_method_id)
  const owner = recordedOwner({ user_id: payer.id, guest_email })
  if (id === null || owner === null) return null
  const events = (await store.readStream(paymentMethodStream(id))).filter(isMethodEvent)
  const method = eventsUntil(events, time).reduce(paymentMethodFold.evolve, paymentMethodFold.initialState)
  return method.status !== 'none' && recordedOwner(method) === owner ? paymentMethodSummary(method) : null
}
