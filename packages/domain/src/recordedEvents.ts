// Every event that can stand in the log: the codec knows these types and no others.
import { addressEvents } from './addresses/events.ts'
import { defaultChoiceEvents } from './defaults/events.ts'
import { guestTokenEvents } from './guest-tokens/events.ts'
import type { EventsOf } from './messages.ts'
import { methodRequestEvents, paymentMethodEvents } from './payment-methods/events.ts'
import { paymentEvents } from './payments/events.ts'
import { productEvents } from './products/events.ts'
import { productSyncRequestEvents } from './products/syncRequest.ts'
import { providerCustomerEvents } from './provider-customers/events.ts'
import { providerIntentEvents, providerNotificationEvents } from './provider-events/events.ts'
import { setupIntentEvents } from './setup-intents/events.ts'
import { webhookTestEvents } from './webhook-tests/events.ts'

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
