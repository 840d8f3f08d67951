// Reads a payment from the log, now or as of a time, together with its saved method as of the same time.

import { type Actor, hasRight, recordedOwner } from '@paylog/domain/actor'
import { recordedId } from '@paylog/domain/fields'
import {
  type PaymentMethodSummary,
  paymentMethodFold,
  paymentMethodSummary,
} from '@paylog/domain/payment-methods/paymentMethod'
import { type PaymentEvent, paymentEvents } from '@paylog/domain/payments/events'
import { paymentFold } from '@paylog/domain/payments/fold'
import { eventsUntil } from '@paylog/domain/payments/history'
import { existingPayment, noSecrets, type Payment, type PaymentState } from '@paylog/domain/payments/payment'
import { type PaymentResource, paymentResource } from '@paylog/domain/payments/resource'
import { type Recorded, UnreadableEventError } from '@paylog/event-store/codec/codec'
import type { EventStore } from '@paylog/event-store/eventStore'
import type { ReadRange } from '@paylog/event-store/read/reads'
import { paymentMethodStream, paymentStream } from '@paylog/event-store/streamName'
import { isMethodEvent } from '../payment-methods/savedMethod.ts'

/**
 * The events of one payment in order; empty for an unknown payment.
 * @param id in the recorded form (see `recordedId`)
 * @throws UnreadableEventError, also for an event type that payments do not have; DomainError `event_store_unavailable`
 */
export async function readPaymentEvents(
  store: EventStore,
  id: string,
  range?: ReadRange,
): Promise<readonly Recorded<PaymentEvent>[]> {
  const events = await store.readStream(paymentStream(id), range)
  return events.map((event) => {
    if (isPaymentEvent(event)) return event
    const { stream, revision, type } = event
    throw new UnreadableEventError(`event ${event.id} (${type}, ${stream}@${revision}) is not a payment event`)
  })
}

function isPaymentEvent(event: Recorded): event is Recorded<PaymentEvent> {
  return Object.hasOwn(paymentEvents, event.type)
}

/**
 * The payment resource after the given events.
 * @param events a prefix of its stream
 * @param time ms since 1970: the method summary is as of this time; now if omitted
 * @throws DomainError `not_found` for no events, `event_store_unavailable`; UnreadableEventError
 */
export async function paymentAfter(
  store: EventStore,
  events: readonly PaymentEvent[],
  time = Number.POSITIVE_INFINITY,
): Promise<PaymentResource> {
  return shownPayment(store, events.reduce<PaymentState>(paymentFold.evolve, paymentFold.initialState), time)
}

/**
 * The payment resource of a loaded payment.
 * @param time as for `paymentAfter`
 * @throws DomainError `not_found` when there is no payment, `event_store_unavailable`
 */
export async function shownPayment(
  store: EventStore,
  state: PaymentState,
  time = Number.POSITIVE_INFINITY,
): Promise<PaymentResource> {
  const payment = existingPayment(state)
  return paymentResource(payment, await methodOf(store, payment, time))
}

/** Whether the caller sees what lets its holder pay the payments of others. Who charges them gets it for the payer anyway. */
export const seesSecrets = (actor: Actor): boolean => hasRight(actor, 'charge')

/** Somebody else's payment, as an administrator sees it. */
export const shownToAdministrator = (actor: Actor, payment: PaymentResource): PaymentResource =>
  seesSecrets(actor) ? payment : { ...payment, ...noSecrets }

/** The payment's saved method, even if removed; `null` for a test method, and for one that does not belong to the payer. */
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
