// Authorize.Net's notifications as the gateway writes them. https://developer.authorize.net/api/reference/features/webhooks.html
import { testIdOf, type NotificationFormat } from '../notificationForm.ts'
import { genericTypeOf } from './eventTypes.ts'
import { readNotificationLeniently } from './readNotification.ts'

/** What the object is, by how the type begins; the longest beginnings first. */
const entityNames: readonly (readonly [string, string])[] = [
  ['net.authorize.payment.', 'transaction'],
  ['net.authorize.customer.subscription.', 'subscription'],
  ['net.authorize.customer.paymentProfile.', 'customerPaymentProfile'],
  ['net.authorize.customer.', 'customerProfile'],
]

/** A transaction that was approved. */
const approved = '1'

export const authorizeNetNotificationFormat: NotificationFormat = {
  nativeTypes: {
    'payment_intent.succeeded': 'net.authorize.payment.authcapture.created',
    'payment_intent.failed': 'net.authorize.payment.fraud.declined',
    'payment_intent.canceled': 'net.authorize.payment.void.created',
    'payment_intent.processing': 'net.authorize.payment.authorization.created',
    'payment_method.attached': 'net.authorize.customer.paymentProfile.created',
    'payment_method.detached': 'net.authorize.customer.paymentProfile.deleted',
    'payment_method.updated': 'net.authorize.customer.paymentProfile.updated',
    'subscription.created': 'net.authorize.customer.subscription.created',
    'subscription.updated': 'net.authorize.customer.subscription.updated',
    'subscription.deleted': 'net.authorize.customer.subscription.cancelled',
    'subscription.trial_will_end': 'net.authorize.customer.subscription.expiring',
    'invoice.payment_succeeded': 'net.authorize.payment.authcapture.created',
    'invoice.payment_failed': 'net.authorize.customer.subscription.failed',
    'customer.created': 'net.authorize.customer.created',
    'customer.updated': 'net.authorize.customer.updated',
    'customer.deleted': 'net.authorize.customer.deleted',
  },
  minimalObject({ id, type, generic_type }) {
    const [, entityName] = entityNames.find(([beginning]) => type.startsWith(beginning)) ?? []
    const dependsOnCode = genericTypeOf(type, null) === null && genericTypeOf(type, approved) !== null
    return {
      ...(dependsOnCode && { responseCode: Number(approved) }),
      ...(entityName !== undefined && { entityName }),
      id: testIdOf(id),
      // A transaction pays for a subscription only if it names one; of the first payment nobody else is told.
      ...(generic_type === 'invoice.payment_succeeded' && { subscription: { id: testIdOf(`sub_${id}`), payNum: 2 } }),
    }
  },
  envelope: ({ id, type, at, object }) => ({
    notificationId: id,
    eventType: type,
    eventDate: at.toISOString(),
    webhookId: id,
    payload: object,
  }),
  keys: { type: 'eventType', object: 'payload' },
  // The gateway's own objects have `authAmount`, or say what they are; their amounts are in major units.
  isInMinorUnits: ({ amount, authAmount, entityName }) =>
    Number.isInteger(amount) && authAmount === undefined && entityName === undefined,
  read: ({ body }) => readNotificationLeniently(body),
}
