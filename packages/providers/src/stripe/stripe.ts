// The Stripe adapter. https://docs.stripe.com/api
import { createPace } from '../pacing.ts'
import type { Provider } from '../provider.ts'
import { readTimedSignature, verifyTimedSignature } from '../timedSignature.ts'
import { withTimeLimits } from '../timeLimit.ts'
import { createStripeApi } from './api.ts'
import { createCatalog } from './catalog.ts'
import { completeNotification } from './completeNotification.ts'
import { checkStripeAmount } from './fields.ts'
import { cancelIntent, captureAuthorized, createIntent, findIntents, findPaymentId, retrieveIntent } from './intents.ts'
import { createMethods } from './methods.ts'
import { readNotification } from './notifications.ts'
import { refundCharge } from './refunds.ts'
import { createSetupIntent } from './setupIntents.ts'

const signatureHeader = 'stripe-signature'

/**
 * @param options `secretKey`: secret or restricted, live or test; `webhookSecrets`: for the notifications' signatures,
 *   several during a rotation; `apiBase`: an origin; `timeoutMs`: for all attempts of a call together; `maxPerSecond`:
 *   calls, 0 for no limit
 */
export function createStripe(options: {
  readonly secretKey: string
  readonly webhookSecrets: readonly string[]
  readonly apiBase: string
  readonly timeoutMs: number
  readonly maxPerSecond: number
}): Provider {
  const api = createStripeApi({ ...options, pace: createPace({ perSecond: options.maxPerSecond }) })
  const isTestKey = /^[sr]k_test_/.test(options.secretKey)
  return withTimeLimits(options.timeoutMs, {
    id: 'stripe',
    checkAmount: checkStripeAmount,
    isTestMethod: (paymentMethodId) => isTestKey && /^pm_card_\w+$/.test(paymentMethodId),
    newPaymentId: null,

    createIntent: async (request) => createIntent(api, request),
    retrieveIntent: ({ provider_intent_id }) => retrieveIntent(api, provider_intent_id),
    findIntents: (paymentId) => findIntents(api, paymentId),
    findPaymentId: (ids) => findPaymentId(api, ids),
    cancelIntent: (request) => cancelIntent(api, request),
    // Once the payer has confirmed, Stripe captures by itself, or authorizes.
    captureIntent: null,
    captureAuthorized: async (request) => captureAuthorized(api, request),
    refund: async (request) => refundCharge(api, request),
    pagesExpire: false,

    createSetupIntent: (request) => createSetupIntent(api, request),
    methods: withTimeLimits(options.timeoutMs, createMethods(api)),
    catalog: createCatalog(api),

    checkNotificationHeaders: (notification) => void readTimedSignature(signatureHeader, notification),
    async verifyNotification(notification) {
      verifyTimedSignature(signatureHeader, options.webhookSecrets, notification)
    },
    readNotification,
    completeNotification: (notification) => completeNotification(api, notification),
    close: () => api.close(),
  })
}
