// Authorize.Net's plugin: variables, receiver docs, and notification format.
// https://developer.authorize.net/api/reference/features/webhooks.html

import { commaList, integer, origin, text } from '@paylog/runtime/config/kinds'
import { Type } from 'typebox'
import {
  definePlugin,
  missingCredentials,
  type NotificationFormat,
  nativeTypesOf,
  testIdOf,
} from '../providerPlugin.ts'
import { genericTypeOf, genericTypes, readNotification } from './notifications.ts'

/** The object's entity name by type prefix; longer prefixes first. */
const entityNames: readonly (readonly [string, string])[] = [
  ['net.authorize.payment.', 'transaction'],
  ['net.authorize.customer.subscription.', 'subscription'],
  ['net.authorize.customer.paymentProfile.', 'customerPaymentProfile'],
  ['net.authorize.customer.', 'customerProfile'],
]

/** A transaction that was approved. */
const approved = '1'

const authorizeNetNotificationFormat: NotificationFormat = {
  nativeTypes: nativeTypesOf(genericTypes),
  minimalObject({ id, type, generic_type }) {
    const [, entityName] = entityNames.find(([beginning]) => type.startsWith(beginning)) ?? []
    const dependsOnCode = genericTypeOf(type, null) === null && genericTypeOf(type, approved) !== null
    return {
      ...(dependsOnCode && { responseCode: Number(approved) }),
      ...(entityName !== undefined && { entityName }),
      id: testIdOf(id),
      // Only a transaction with a subscription pays an invoice. `payNum` 2, because 1 would be the first invoice.
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
  keys: { type: 'eventType', time: 'eventDate', object: 'payload' },
  // The gateway's own objects have `authAmount` or `entityName`, and their amounts are in major units.
  isInMinorUnits: ({ amount, authAmount, entityName }) =>
    Number.isInteger(amount) && authAmount === undefined && entityName === undefined,
  read: ({ body }) => readNotification(body),
}

const credentials = [
  'AUTHORIZE_NET_API_LOGIN_ID',
  'AUTHORIZE_NET_TRANSACTION_KEY',
  'AUTHORIZE_NET_SIGNATURE_KEY',
] as const

const liveHosts = new Set(['https://api.authorize.net', 'https://api2.authorize.net'])

/** Where the API serves the page that opens the hosted form. */
export const hostedPagePath = '/pages/authorize-net'

/** https://developer.authorize.net/api/reference/features/accept-hosted.html */
function hostedFormUrl(apiBase: string): string {
  const host = liveHosts.has(apiBase) ? 'accept' : 'test'
  return `https://${host}.authorize.net/payment/payment`
}

export const authorizeNet = definePlugin({
  variables: {
    AUTHORIZE_NET_API_LOGIN_ID: Type.Optional(text()),
    AUTHORIZE_NET_TRANSACTION_KEY: Type.Optional(text()),
    AUTHORIZE_NET_SIGNATURE_KEY: Type.Optional(commaList()),
    AUTHORIZE_NET_API_BASE: origin('https://api.authorize.net'),
    /** The API's public address, for the page that opens the hosted form. */
    AUTHORIZE_NET_PAGE_URL: Type.Optional(origin()),
    /** Authorize.Net publishes no limits. */
    AUTHORIZE_NET_MAX_PER_SECOND: integer(0, 10_000, 20),
  },
  problems: (settings) => missingCredentials(settings, credentials),
  mode: ({ AUTHORIZE_NET_API_LOGIN_ID: id, AUTHORIZE_NET_API_BASE: base }) =>
    id === undefined ? null : liveHosts.has(base) ? 'live' : 'test',
  async create(settings, timeoutMs) {
    const { AUTHORIZE_NET_API_LOGIN_ID: apiLoginId, AUTHORIZE_NET_TRANSACTION_KEY: transactionKey } = settings
    const { AUTHORIZE_NET_SIGNATURE_KEY: signatureKeys, AUTHORIZE_NET_API_BASE: apiBase } = settings
    if (!apiLoginId || !transactionKey || !signatureKeys) return undefined
    const { createAuthorizeNet } = await import('./authorizeNet.ts')
    const { AUTHORIZE_NET_PAGE_URL: page, AUTHORIZE_NET_MAX_PER_SECOND: maxPerSecond } = settings
    const pageUrl = page === undefined ? null : `${page}${hostedPagePath}`
    const account = { apiLoginId, transactionKey, signatureKeys }
    return createAuthorizeNet({
      ...account,
      apiBase,
      hostedFormUrl: hostedFormUrl(apiBase),
      pageUrl,
      timeoutMs,
      maxPerSecond,
    })
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
