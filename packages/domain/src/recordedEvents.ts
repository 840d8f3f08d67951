// Every event that can stand in the log: the codec knows these types and no others.

import type { Static, TSchema } from 'typebox'
import { addressEvents } from './addresses/events.ts'
import { defaultChoiceEvents } from './defaultChoice.ts'
import type { EventsOf } from './events.ts'
import { guestTokenEvents } from './guestToken.ts'
import { methodRequestEvents, paymentMethodEvents } from './payment-methods/events.ts'
import { paymentEvents } from './payments/events.ts'
import { productEvents } from './products/events.ts'
import { productSyncRequestEvents } from './products/syncRequest.ts'
import { providerCustomerEvents } from './providerCustomer.ts'
import { providerIntentEvents, providerNotificationEvents } from './providerEvents.ts'
import { setupIntentEvents } from './setupIntent.ts'
import { webhookTestEvents } from './webhookTest.ts'

export const recordedEvents = {
  ...paymentEvents,
  ...providerNotificationEvents,
  ...providerIntentEvents,
  ...guestTokenEvents,
  ...setupIntentEvents,
  ...providerCustomerEvents,
  ...paymentMethodEvents,
  ...methodRequestEvents,
  ...addressEvents,
  ...defaultChoiceEvents,
  ...productEvents,
  ...productSyncRequestEvents,
  ...webhookTestEvents,
}
export type RecordedDomainEvent = EventsOf<typeof recordedEvents>

// Shapes in which events were stored before, and how each of them becomes the next one.

/** A former shape of an event. `Next` is the shape that was stored after it. */
export type Upcaster<Next> = {
  readonly schema: TSchema
  /** Pure, and total over everything that fits the schema. */
  upcast(data: never): Next
  /** The shape that was stored before this one; absent for the first one. */
  readonly before?: Upcaster<unknown>
}

/** The latest former shape of each event that has any, with those before it. */
export type Upcasters<Current extends Readonly<Record<string, TSchema>>> = {
  readonly [Name in keyof Current & string]?: Upcaster<Static<Current[Name]>>
}

/**
 * A shape that is stored no more.
 * @param schema what fitted it, to the letter as it was when the last event of this shape was written
 * @param upcast makes the data of the next shape of it. It names the fields it takes over: what is only spread may bring
 *   along fields that the next shape does not have. It changes nothing in what it is given
 * @param before the shape that was stored before this one, whose upcaster makes data of this one
 */
export function upcaster<Schema extends TSchema, Next>(
  schema: Schema,
  upcast: (data: Static<Schema>) => Next,
  before?: Upcaster<Static<Schema>>,
): Upcaster<Next> {
  return { schema, upcast, ...(before && { before }) }
}

/** Every change so far only added fields that may be absent, so that every event is read as it was first written. */
export const upcasters: Upcasters<typeof recordedEvents> = {}
