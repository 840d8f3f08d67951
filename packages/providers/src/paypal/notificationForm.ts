// PayPal's notifications as PayPal writes them. https://developer.paypal.com/api/rest/webhooks/rest/
import { testIdOf, type NotificationFormat } from '../notificationForm.ts'
import { readNotification } from './notifications.ts'

/** What the object is, by how the type begins; the longest beginnings first. */
const resourceTypes: readonly (readonly [string, string])[] = [
  ['PAYMENT.CAPTURE.REFUNDED', 'refund'],
  ['PAYMENT.CAPTURE.REVERSED', 'refund'],
  ['PAYMENT.CAPTURE.', 'capture'],
  ['PAYMENT.AUTHORIZATION.', 'authorization'],
  ['PAYMENT.SALE.', 'sale'],
  ['CHECKOUT.ORDER.', 'checkout-order'],
  ['BILLING.SUBSCRIPTION.', 'subscription'],
  ['VAULT.PAYMENT-TOKEN.', 'payment_token'],
  ['CUSTOMER.DISPUTE.', 'dispute'],
]

export const paypalNotificationFormat: NotificationFormat = {
  nativeTypes: {
    'payment_intent.created': 'CHECKOUT.ORDER.CREATED',
    'payment_intent.succeeded': 'PAYMENT.CAPTURE.COMPLETED',
    'payment_intent.failed': 'PAYMENT.CAPTURE.DENIED',
    'payment_intent.canceled': 'PAYMENT.AUTHORIZATION.VOIDED',
    'payment_intent.processing': 'PAYMENT.CAPTURE.PENDING',
    'payment_method.attached': 'VAULT.PAYMENT-TOKEN.CREATED',
    'payment_method.detached': 'VAULT.PAYMENT-TOKEN.DELETED',
    'subscription.created': 'BILLING.SUBSCRIPTION.CREATED',
    'subscription.updated': 'BILLING.SUBSCRIPTION.UPDATED',
    'subscription.deleted': 'BILLING.SUBSCRIPTION.CANCELLED',
    'invoice.payment_succeeded': 'PAYMENT.SALE.COMPLETED',
    'invoice.payment_failed': 'BILLING.SUBSCRIPTION.PAYMENT.FAILED',
  },
  minimalObject({ id, generic_type, object }) {
    // Some objects have their ids under names of their own.
    const isNamed = 'order_id' in object || 'dispute_id' in object
    return {
      ...(isNamed ? {} : { id: testIdOf(id) }),
      // A sale pays for a subscription only if it names one.
      ...(generic_type === 'invoice.payment_succeeded' && { billing_agreement_id: testIdOf(`sub_${id}`) }),
    }
  },
  envelope({ id, type, at, object }) {
    const [, resource_type] = resourceTypes.find(([beginning]) => type.startsWith(beginning)) ?? []
    return {
      id: `WH-${testIdOf(id)}`,
      event_version: '1.0',
      create_time: at.toISOString(),
      resource_type,
      event_type: type,
      summary: 'A notification that was made up to try a webhook out',
      resource: object,
      links: [],
    }
  },
  keys: { type: 'event_type', object: 'resource' },
  read: ({ body }) => readNotification(body),
}
