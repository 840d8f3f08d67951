// Authorize.Net: payments by its hosted form (Accept Hosted), found again by their invoice number.
import { createPace } from '../pacing.ts'
import type { Provider } from '../provider.ts'
import { completeNotification } from './completeNotification.ts'
import { checkAmount } from './fields.ts'
import { createGateway } from './gateway.ts'
import { createIntent, retrieveIntent } from './intents.ts'
import { createMethods } from './methods.ts'
import { readNotification, readSignature, verifySignature } from './notifications.ts'

export type AuthorizeNetOptions = {
  readonly apiLoginId: string
  readonly transactionKey: string
  /** Every key that is valid now; more than one during a rotation. */
  readonly signatureKeys: readonly string[]
  /** The origin of the API. */
  readonly apiBase: string
  /** For all calls together that one request needs. */
  readonly timeoutMs: number
  /** Calls; 0 for any number. */
  readonly maxPerSecond: number
}

export function createAuthorizeNet(options: AuthorizeNetOptions): Provider {
  const { apiLoginId, transactionKey, signatureKeys, apiBase, timeoutMs } = options
  const pace = createPace({ perSecond: options.maxPerSecond })
  const gateway = createGateway({ account: { apiLoginId, transactionKey }, apiBase, timeoutMs, pace })
  return {
    id: 'authorize-net',
    checkAmount,
    isTestMethod: () => false,

    createIntent: (request) => createIntent(gateway, request),
    retrieveIntent: (intent) => retrieveIntent(gateway, intent),
    // The invoice number is the intent's id and follows from the payment's: there is nothing to look for.
    findIntents: null,
    // A token that nobody uses expires within minutes, and one that is used is captured at once.
    cancelIntent: null,
    captureIntent: null,

    createSetupIntent: null,
    methods: createMethods(gateway),
    // The service has nothing where a product could be kept.
    catalog: null,

    checkNotificationHeaders({ headers }) {
      readSignature(headers['x-anet-signature'])
    },
    async verifyNotification({ body, headers }) {
      verifySignature(signatureKeys, headers['x-anet-signature'], body)
    },
    readNotification,
    completeNotification: (notification) => completeNotification(gateway, notification),

    close: () => gateway.api.close(),
  }
}
