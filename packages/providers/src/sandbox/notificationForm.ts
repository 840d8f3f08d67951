// The sandbox's notifications: the provider-neutral shape of interface section 6.1.
import { genericName, genericNames, genericSubscription } from '../genericEvent.ts'
import { testIdOf, type NotificationFormat } from '../notificationForm.ts'
import { codeIn } from '../simulatedFacts.ts'

/** The fields of the interface's shape are read for every provider. */
const emptyNotification = {
  object_id: null,
  amount_cents: null,
  currency: null,
  status: null,
  customer_id: null,
  customer_email: null,
  claimed_payment_id: null,
  statement: null,
}

export const sandboxNotificationFormat: NotificationFormat = {
  nativeTypes: Object.fromEntries(genericNames.map((name) => [name, name])),
  minimalObject: ({ id }) => ({ id: testIdOf(id) }),
  envelope: ({ id, type, at, object, siblings }) => ({
    id: `evt_${testIdOf(id)}`,
    type,
    provider: 'sandbox',
    data: { ...siblings, object },
    created: Math.floor(at.getTime() / 1000),
  }),
  keys: { type: 'type', object: 'data' },
  read: ({ type, at, object }) => ({
    ...emptyNotification,
    provider_event_id: type,
    provider_type: type,
    generic_type: genericName(type),
    occurred_at: new Date(Math.floor(at.getTime() / 1000) * 1000).toISOString(),
    subscription: genericSubscription(type, codeIn(object.id)),
  }),
}
