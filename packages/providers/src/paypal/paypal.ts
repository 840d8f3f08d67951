// The PayPal adapter: orders that a payer approves and we capture, saved methods, products, and signed notifications.
import { createPace } from '../pacing.ts'
import type { Provider } from '../provider.ts'
import { withTimeLimits } from '../timeLimit.ts'
import { createCatalog } from './catalog.ts'
import { createPaypalApi } from './client.ts'
import { checkAmount } from './fields.ts'
import { readNotification } from './notifications.ts'
import { cancelOrder, captureAuthorized, captureOrder, createOrder, refundPayment } from './orders.ts'
import { findOrder, findPaymentId } from './snapshots.ts'
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
  const api = createPaypalApi({ ...options, pace })
  const verifier = createVerifier({ ...options, pace })
  return withTimeLimits(options.timeoutMs, {
    id: 'paypal',
    checkAmount,
    isTestMethod: () => false,
    newPaymentId: null,

    createIntent: (request) => createOrder(api, request),
    retrieveIntent: async ({ provider_intent_id }) => (await findOrder(api, provider_intent_id))?.snapshot ?? null,
    captureIntent: (request) => captureOrder(api, request),
    captureAuthorized: (request) => captureAuthorized(api, request),
    refund: (request) => refundPayment(api, request),
    cancelIntent: (request) => cancelOrder(api, request),
    // Orders cannot be searched.
    findIntents: null,
    findPaymentId: (ids) => findPaymentId(api, ids),
    // PayPal forgets an unapproved order after some hours.
    pagesExpire: true,

    createSetupIntent: null,
    methods: withTimeLimits(options.timeoutMs, createVault(api)),
    readTime: () => api.readTime(),
    checkCredentials: () => api.authenticate(),
    catalog: createCatalog(api),

    checkNotificationHeaders({ headers }) {
      readSignature(headers)
    },
    verifyNotification: verifier.verify,
    readNotification,
    completeNotification: null,
    pausedMs: () => pace.pausedMs(),
    close: async () => void (await Promise.all([api.close(), verifier.close()])),
  })
}
