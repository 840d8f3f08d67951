// Stripe's plugin: variables, receiver docs, and notification format. https://docs.stripe.com/api/events/object

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

const stripeNotificationFormat: NotificationFormat = {
  nativeTypes: nativeTypesOf(genericTypes),
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
  keys: { type: 'type', time: 'created', object: 'data' },
  read: ({ body }) => readNotification(body),
}

const liveHost = 'https://api.stripe.com'

export const stripe = definePlugin({
  variables: {
    STRIPE_SECRET_KEY: Type.Optional(text()),
    STRIPE_WEBHOOK_SECRET: Type.Optional(commaList()),
    STRIPE_API_BASE: origin(liveHost),
    /** Stripe allows 25 requests a second in a sandbox, and 100 in live mode: https://docs.stripe.com/rate-limits */
    STRIPE_MAX_PER_SECOND: integer(0, 10_000, 20),
  },
  problems: (settings) => missingCredentials(settings, ['STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET']),
  mode({ STRIPE_SECRET_KEY: key, STRIPE_API_BASE: base }) {
    if (key === undefined) return null
    return /^[rs]k_live_/.test(key) || (base === liveHost && !/^[rs]k_test_/.test(key)) ? 'live' : 'test'
  },
  async create(settings, timeoutMs) {
    const { STRIPE_SECRET_KEY: secretKey, STRIPE_WEBHOOK_SECRET: webhookSecrets, STRIPE_API_BASE: apiBase } = settings
    if (!secretKey || !webhookSecrets) return undefined
    const { createStripe } = await import('./stripe.ts')
    const maxPerSecond = settings.STRIPE_MAX_PER_SECOND
    return createStripe({ secretKey, webhookSecrets, apiBase, timeoutMs, maxPerSecond })
  },
  receiver: {
    operationId: 'receiveStripeWebhook',
    provider: 'Stripe',
    signedBy: { 'stripe-signature': 'The time, and HMAC-SHA256 over the time and the body' },
    example: {
      id: 'evt_1PQexample0001',
      object: 'event',
      type: 'payment_intent.succeeded',
      created: 1769860800,
      data: {
        object: {
          id: 'pi_3PQexample0001',
          object: 'payment_intent',
          amount: 2599,
          currency: 'eur',
          status: 'succeeded',
          customer: null,
          metadata: {},
        },
      },
    },
  },
  format: stripeNotificationFormat,
})
