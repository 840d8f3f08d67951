// All event types in the log, and upcasters from earlier schemas. The codec accepts no other types.
import type { Static, TSchema } from 'typebox'
import { addressEvents } from './addresses/events.ts'
import { auditCheckpointEvents } from './auditCheckpoint.ts'
import { auditTrailEvents } from './auditTrail.ts'
import { clockEvents } from './clock.ts'
import { defaultChoiceEvents } from './defaultChoice.ts'
import { erasureEvents } from './erasures.ts'
import type { EventsOf } from './events.ts'
import { guestTokenEvents } from './guestToken.ts'
import { idempotentRequestEvents } from './idempotentRequest.ts'
import { paymentMethodEvents } from './payment-methods/events.ts'
import { paymentEvents } from './payments/events.ts'
import { productEvents } from './products/events.ts'
import { providerCustomerEvents } from './providerCustomer.ts'
import { providerNotificationEvents, sharedFactEvents } from './providerEvents.ts'
import { setupIntentEvents } from './setupIntent.ts'
import { webhookTestEvents } from './webhookTest.ts'

export const recordedEvents = {
  ...paymentEvents,
  ...providerNotificationEvents,
  ...sharedFactEvents,
  ...guestTokenEvents,
  ...setupIntentEvents,
  ...providerCustomerEvents,
  ...paymentMethodEvents,
  ...addressEvents,
  ...defaultChoiceEvents,
  ...productEvents,
  ...idempotentRequestEvents,
  ...webhookTestEvents,
  ...erasureEvents,
  ...auditTrailEvents,
  ...auditCheckpointEvents,
  ...clockEvents,
}
export type RecordedDomainEvent = EventsOf<typeof recordedEvents>

/** Converts the data of an earlier schema to that of the next one. */
export type Upcaster<Next> = {
  readonly schema: TSchema
  /** Pure, and defined for all data that matches the schema. */
  upcast(data: never): Next
  /** The upcaster from the schema before this one; absent for the first schema. */
  readonly before?: Upcaster<unknown>
}

/** For each event with earlier schemas: the upcaster to the newest one. */
export type Upcasters<Current extends Readonly<Record<string, TSchema>>> = {
  readonly [Name in keyof Current & string]?: Upcaster<Static<Current[Name]>>
}

/**
 * Defines an upcaster from a schema that is no longer written.
 * @param schema exactly as it was when the last event with it was written
 * @param upcast returns data of the next schema and must not change its argument. Name the fields instead of spreading:
 *   a spread may copy fields that the next schema does not have
 * @param before the upcaster from the schema before this one
 */
export function upcaster<Schema extends TSchema, Next>(
  schema: Schema,
  upcast: (data: Static<Schema>) => Next,
  before?: Upcaster<Static<Schema>>,
): Upcaster<Next> {
  return { schema, upcast, ...(before && { before }) }
}

/** Empty: all changes so far only added optional fields. */
export const upcasters: Upcasters<typeof recordedEvents> = {}
