// Stripe's notifications as Stripe writes them. https://docs.stripe.com/api/events/object
import { testIdOf, type NotificationFormat } from '../notificationForm.ts'
import { readNotification } from './notification.ts'

export const stripeNotificationFormat: NotificationFormat = {
  nativeTypes: {
    'payment_intent.created': 'payment_intent.created',
    'payment_intent.succeeded': 'payment_intent.succeeded',
    'payment_intent.failed': 'payment_intent.payment_failed',
    'payment_intent.canceled': 'payment_intent.canceled',
    'payment_intent.processing': 'payment_intent.processing',
    'payment_intent.requires_action': 'payment_intent.requires_action',
    'payment_method.attached': 'payment_method.attached',
    'payment_method.detached': 'payment_method.detached',
    'payment_method.updated': 'payment_method.updated',
    'subscription.created': 'customer.subscription.created',
    'subscription.updated': 'customer.subscription.updated',
    'subscription.deleted': 'customer.subscription.deleted',
    'subscription.trial_will_end': 'customer.subscription.trial_will_end',
    'invoice.payment_succeeded': 'invoice.payment_succeeded',
    'invoice.payment_failed': 'invoice.payment_failed',
    'customer.created': 'customer.created',
    'customer.updated': 'customer.updated',
    'customer.deleted': 'customer.deleted',
  },
  minimalObject: ({ id }) => ({ id: testIdOf(id) }),
  envelope: ({ id, type, at, object, siblings }) => ({
    id: `evt_${testIdOf(id)}`,
    object: 'event',
    api_version: null,
    created: Math.floor(at.getTime() / 1000),
    data: { ...siblings, object },
    livemode: false,
    pending_webhooks: 1,
    request: { id: null, idempotency_key: null },
    type,
  }),
  keys: { type: 'type', object: 'data' },
  read: ({ body }) => readNotification(body),
}
