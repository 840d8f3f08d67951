// The sandbox's notifications: the provider-neutral shape of interface section 6.1.
import { genericName, genericNames, genericSubscription } from '../genericEvent.ts'
import { madeUpId, type NotificationForm } from '../notificationForm.ts'
import { codeIn } from '../simulatedFacts.ts'

/** The fields of the interface's shape are read for every provider. */
const unread = {
  object_id: null,
  amount_cents: null,
  currency: null,
  status: null,
  customer_id: null,
  customer_email: null,
  claimed_payment_id: null,
  statement: null,
}

export const sandboxForm: NotificationForm = {
  nativeTypes: Object.fromEntries(genericNames.map((name) => [name, name])),
  leastObject: ({ id }) => ({ id: madeUpId(id) }),
  envelope: ({ id, type, at, object, beside }) => ({
    id: `evt_${madeUpId(id)}`,
    type,
    provider: 'sandbox',
    data: { ...beside, object },
    created: Math.floor(at.getTime() / 1000),
  }),
  keys: { type: 'type', object: 'data' },
  read: ({ type, at, object }) => ({
    ...unread,
    provider_event_id: type,
    provider_type: type,
    generic_type: genericName(type),
    occurred_at: new Date(Math.floor(at.getTime() / 1000) * 1000).toISOString(),
    subscription: genericSubscription(type, codeIn(object.id)),
  }),
}
