// What there is to know of PayPal before it is enabled.
import { commaList, integer, origin, text } from '@paylog/config/kinds'
import { Type } from 'typebox'
import { definePlugin, missingCredentials } from '../providerPlugin.ts'
import { paypalNotificationFormat } from './notificationForm.ts'

const liveHosts = new Set(['https://api-m.paypal.com', 'https://api.paypal.com'])

export const paypal = definePlugin({
  variables: {
    PAYPAL_CLIENT_ID: Type.Optional(text()),
    PAYPAL_CLIENT_SECRET: Type.Optional(text()),
    PAYPAL_WEBHOOK_ID: Type.Optional(commaList()),
    PAYPAL_API_BASE: origin('https://api-m.paypal.com'),
    /** PayPal publishes no limits; it throttles what looks like abuse. */
    PAYPAL_MAX_PER_SECOND: integer(0, 10_000, 20),
  },
  problems: (settings) =>
    missingCredentials(settings, ['PAYPAL_CLIENT_ID', 'PAYPAL_CLIENT_SECRET', 'PAYPAL_WEBHOOK_ID']),
  isLive: ({ PAYPAL_CLIENT_ID: id, PAYPAL_API_BASE: base }) => id !== undefined && liveHosts.has(base),
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
      'paypal-transmission-id': 'Of the transmission',
      'paypal-transmission-time': 'When it was sent',
      'paypal-transmission-sig': 'The signature, which PayPal itself is asked about',
      'paypal-cert-url': 'Where the certificate is',
      'paypal-auth-algo': 'How it was signed',
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
