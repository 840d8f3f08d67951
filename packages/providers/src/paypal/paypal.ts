// The PayPal adapter: orders that a payer approves and we capture, saved methods, products, and signed notifications.
import { createPace } from '../pacing.ts'
import type { Provider } from '../provider.ts'
import { cancelOrder, captureAuthorized } from './authorizations.ts'
import { createCatalog } from './catalog.ts'
import { createPaypalClient } from './client.ts'
import { createOrder } from './createOrder.ts'
import { checkAmount } from './fields.ts'
import { findPaymentId } from './findPaymentId.ts'
import { readNotification } from './notifications.ts'
import { captureOrder, retrieveOrder } from './orders.ts'
import { refundPayment } from './refundPayment.ts'
import { createVault } from './vault.ts'
import { createVerifier, readSignature } from './verification.ts'

/**
 * @param options `webhookIds`: PayPal's ids of our webhook, several during a rotation; `apiBase`: an origin;
 *   `timeoutMs`: for all attempts of one call together; `maxPerSecond`: calls, 0 for no limit
 */
export function createPaypal(options: {
  readonly clientId: string
  readonly clientSecret: string
  readonly webhookIds: readonly string[]
  readonly apiBase: string
  readonly timeoutMs: number
  readonly maxPerSecond: number
}): Provider {
  const pace = createPace({ perSecond: options.maxPerSecond })
  const client = createPaypalClient({ ...options, pace })
  const verifier = createVerifier({ ...options, pace })
  return {
    id: 'paypal',
    checkAmount,
    isTestMethod: () => false,
    newPaymentId: null,

    createIntent: (request) => createOrder(client, request),
    retrieveIntent: ({ provider_intent_id }) => retrieveOrder(client, provider_intent_id),
    captureIntent: (request) => captureOrder(client, request),
    captureAuthorized: (request) => captureAuthorized(client, request),
    refund: (request) => refundPayment(client, request),
    cancelIntent: (request) => cancelOrder(client, request),
    // Orders cannot be searched.
    findIntents: null,
    findPaymentId: (ids) => findPaymentId(client, ids),
    // PayPal forgets an unapproved order after some hours.
    pagesExpire: true,

    createSetupIntent: null,
    methods: createVault(client),
    catalog: createCatalog(client),

    checkNotificationHeaders({ headers }) {
      readSignature(headers)
    },
    verifyNotification: verifier.verify,
    readNotification,
    completeNotification: null,
    close: async () => void (await Promise.all([client.close(), verifier.close()])),
  }
}
