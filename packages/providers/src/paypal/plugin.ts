// PayPal's plugin: variables, receiver docs, and notification format. https://developer.paypal.com/api/rest/webhooks/rest/

import { commaList, integer, origin, text } from '@paylog/runtime/config/kinds'
import { Type } from 'typebox'
import {
  definePlugin,
  missingCredentials,
  type NotificationFormat,
  nativeTypesOf,
  testIdOf,
} from '../providerPlugin.ts'
import { genericTypes, readNotification } from './notifications.ts'

/** The object's resource type by event type prefix; longer prefixes first. */
const resourceTypes: readonly (readonly [string, string])[] = [
  ['PAYMENT.CAPTURE.REFUNDED', 'refund'],
  ['PAYMENT.CAPTURE.REVERSED', 'refund'],
  ['PAYMENT.REFUND.', 'refund'],
  ['PAYMENT.CAPTURE.', 'capture'],
  ['PAYMENT.AUTHORIZATION.', 'authorization'],
  ['PAYMENT.SALE.', 'sale'],
  ['CHECKOUT.ORDER.', 'checkout-order'],
  ['BILLING.SUBSCRIPTION.', 'subscription'],
  ['VAULT.PAYMENT-TOKEN.', 'payment_token'],
  ['CUSTOMER.DISPUTE.', 'dispute'],
]

const paypalNotificationFormat: NotificationFormat = {
  // A sale means that only if it names a subscription.
  nativeTypes: nativeTypesOf([...genericTypes, ['PAYMENT.SALE.COMPLETED', 'invoice.payment_succeeded']]),
  minimalObject({ id, generic_type, object }) {
    // Some objects have their id in another field.
    const isNamed = 'order_id' in object || 'dispute_id' in object
    return {
      ...(isNamed ? {} : { id: testIdOf(id) }),
      // A sale pays a subscription's invoice only if it names the subscription.
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
      summary: 'A simulated notification for testing a webhook',
      resource: object,
      links: [],
    }
  },
  keys: { type: 'event_type', time: 'create_time', object: 'resource' },
  read: ({ body }) => readNotification(body),
}

const liveHosts = new Set(['https://api-m.paypal.com', 'https://api.paypal.com'])

export const paypal = definePlugin({
  variables: {
    PAYPAL_CLIENT_ID: Type.Optional(text()),
    PAYPAL_CLIENT_SECRET: Type.Optional(text()),
    PAYPAL_WEBHOOK_ID: Type.Optional(commaList()),
    PAYPAL_API_BASE: origin('https://api-m.paypal.com'),
    /** PayPal publishes no limits; it throttles apparent abuse. */
    PAYPAL_MAX_PER_SECOND: integer(0, 10_000, 20),
  },
  problems: (settings) =>
    missingCredentials(settings, ['PAYPAL_CLIENT_ID', 'PAYPAL_CLIENT_SECRET', 'PAYPAL_WEBHOOK_ID']),
  mode: ({ PAYPAL_CLIENT_ID: id, PAYPAL_API_BASE: base }) =>
    id === undefined ? null : liveHosts.has(base) ? 'live' : 'test',
  async create(settings, timeoutMs) {
    const { PAYPAL_CLIENT_ID: clientId, PAYPAL_CLIENT_SECRET: clientSecret } = settings
    const { PAYPAL_WEBHOOK_ID: webhookIds, PAYPAL_API_BASE: apiBase, PAYPAL_MAX_PER_SECOND: maxPerSecond } = settings
    if (!clientId || !clientSecret || !webhookIds) return undefined
    const { createPaypal } = await import('./paypal.ts')
    return createPaypal({ clientId, clientSecret, webhookIds, apiBase, timeoutMs, maxPerSecond })
  },
  receiver: {
    operationId: 'receivePaypalWebhook',
    provider: 'PayPal',
    signedBy: {
      'paypal-transmission-id': 'Id of the transmission',
      'paypal-transmission-time': 'Time of the transmission',
      'paypal-transmission-sig': 'Signature; Paylog asks PayPal to verify it',
      'paypal-cert-url': 'URL of the signing certificate',
      'paypal-auth-algo': 'Signature algorithm',
    },
    example: {
      id: 'WH-EXAMPLE0001',
      event_type: 'PAYMENT.CAPTURE.COMPLETED',
      create_time: '2026-01-31T12:00:00Z',
      resource_type: 'capture',
      resource: { id: 'EXAMPLECAPTURE001', status: 'COMPLETED', amount: { currency_code: 'EUR', value: '25.99' } },
    },
  },
  format: paypalNotificationFormat,
})
