// Finds the deliveries that the events of a payment led to.

import type { PaymentEvent } from '@paylog/domain/payments/events'
import type { Recorded } from '@paylog/event-store/codec/codec'
import { paymentStream } from '@paylog/event-store/streamName'
import {
  deliveriesOfStreams,
  type ListedDelivery,
  listSettings,
} from '@paylog/webhooks/deliveries/operations/deliveryList'
import { storedNotifications } from '@paylog/webhooks/deliveries/operations/paymentStreams'
import { messageOf } from '../command.ts'
import type { System } from '../system.ts'

export type PaymentDelivery = {
  readonly delivery: ListedDelivery
  /** The id of the payment's event that it is shown with. */
  readonly shownAt: string
}

/** The fields of the output of 1.0.0, which has the name of an endpoint as `node`. */
export function shownDelivery({ event_id, stream, revision, id, endpoint, ...delivery }: ListedDelivery) {
  const { event, mode, status, attempts, last_attempt_at, next_attempt_at } = delivery
  const source = { event_id, stream, revision }
  return { ...source, id, node: endpoint, event, mode, status, attempts, last_attempt_at, next_attempt_at }
}

export type PaymentDeliveries = {
  readonly deliveries: readonly PaymentDelivery[]
  /** Why they cannot be shown, in one line. */
  readonly problem?: string
}

/**
 * The deliveries of these events. Never fails: the payment is shown also while Postgres is down.
 * @param events the first events of one payment
 */
export async function readDeliveries(
  id: string,
  events: readonly Recorded<PaymentEvent>[],
  open: System,
): Promise<PaymentDeliveries> {
  const stored = storedNotifications(events)
  const streams = [paymentStream(id), ...stored.keys()]
  try {
    const found = await deliveriesOfStreams(open.pool({ settings: listSettings }), streams)
    const shown = new Set(events.map((event) => event.id))
    const deliveries = found.flatMap((delivery) => {
      const shownAt = stored.get(delivery.stream) ?? delivery.event_id
      return shown.has(shownAt) ? [{ delivery, shownAt }] : []
    })
    return { deliveries }
  } catch (error) {
    return { deliveries: [], problem: `The deliveries cannot be shown: ${messageOf(error)}` }
  }
}
