// What there is to know of Authorize.Net before it is enabled.
import { commaList, integer, origin, text } from '@paylog/config/kinds'
import { Type } from 'typebox'
import { definePlugin, missingCredentials } from '../providerPlugin.ts'
import { authorizeNetNotificationFormat } from './notificationForm.ts'

const credentials = [
  'AUTHORIZE_NET_API_LOGIN_ID',
  'AUTHORIZE_NET_TRANSACTION_KEY',
  'AUTHORIZE_NET_SIGNATURE_KEY',
] as const

const liveHosts = new Set(['https://api.authorize.net', 'https://api2.authorize.net'])

export const authorizeNet = definePlugin({
  variables: {
    AUTHORIZE_NET_API_LOGIN_ID: Type.Optional(text()),
    AUTHORIZE_NET_TRANSACTION_KEY: Type.Optional(text()),
    AUTHORIZE_NET_SIGNATURE_KEY: Type.Optional(commaList()),
    AUTHORIZE_NET_API_BASE: origin('https://api.authorize.net'),
    /** Authorize.Net publishes no limits. */
    AUTHORIZE_NET_MAX_PER_SECOND: integer(0, 10_000, 20),
  },
  problems: (settings) => missingCredentials(settings, credentials),
  isLive: ({ AUTHORIZE_NET_API_LOGIN_ID: id, AUTHORIZE_NET_API_BASE: base }) => id !== undefined && liveHosts.has(base),
  async create(settings, timeoutMs) {
    const { AUTHORIZE_NET_API_LOGIN_ID: apiLoginId, AUTHORIZE_NET_TRANSACTION_KEY: transactionKey } = settings
    const { AUTHORIZE_NET_SIGNATURE_KEY: signatureKeys, AUTHORIZE_NET_API_BASE: apiBase } = settings
    if (!apiLoginId || !transactionKey || !signatureKeys) return undefined
    const { createAuthorizeNet } = await import('./authorizeNet.ts')
    const maxPerSecond = settings.AUTHORIZE_NET_MAX_PER_SECOND
    return createAuthorizeNet({ apiLoginId, transactionKey, signatureKeys, apiBase, timeoutMs, maxPerSecond })
  },
  receiver: {
    operationId: 'receiveAuthorizeNetWebhook',
    provider: 'Authorize.Net',
    signedBy: { 'x-anet-signature': 'HMAC-SHA512 over the body' },
    example: {
      notificationId: '018f0000-0000-7000-8000-000000000003',
      eventType: 'net.authorize.customer.created',
      eventDate: '2026-01-31T12:00:00.0000000Z',
      webhookId: '018f0000-0000-7000-8000-000000000004',
      payload: { entityName: 'customerProfile', id: '1000000001' },
    },
  },
  format: authorizeNetNotificationFormat,
})
