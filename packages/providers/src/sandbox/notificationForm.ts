// The sandbox's notifications: the provider-neutral shape of interface section 6.1.
import { genericNames } from '../genericEvent.ts'
import { madeUpId, type NotificationForm } from '../notificationForm.ts'
import { readNotification } from './sandbox.ts'

export const sandboxForm: NotificationForm = {
  nativeTypes: Object.fromEntries(genericNames.map((name) => [name, name])),
  leastObject: ({ id }) => ({ id: madeUpId(id) }),
  envelope: ({ id, type, at, object }) => ({
    id: `evt_${madeUpId(id)}`,
    type,
    provider: 'sandbox',
    data: { object },
    created: Math.floor(at.getTime() / 1000),
  }),
  objectPath: '/data/object',
  amountFields: 'amount, an integer in minor units, and currency, three letters',
  readNotification,
}
