// The Authorize.Net adapter: payments on its hosted form (Accept Hosted), identified by their invoice number.
import { newFindableId } from '../findableId.ts'
import { createPace } from '../pacing.ts'
import type { Provider } from '../provider.ts'
import { withTimeLimits } from '../timeLimit.ts'
import { cancelIntent, captureAuthorized } from './captures.ts'
import { completeNotification } from './completeNotification.ts'
import { checkAmount } from './fields.ts'
import { createGateway } from './gateway.ts'
import { createIntent } from './hostedPage.ts'
import { findPaymentId, retrieveIntent } from './intents.ts'
import { createMethods } from './methods.ts'
import { readNotification, readSignature, verifySignature } from './notifications.ts'
import { checkRefund, refund } from './refunds.ts'

export type AuthorizeNetOptions = {
  readonly apiLoginId: string
  readonly transactionKey: string
  /** All valid keys; more than one during a rotation. */
  readonly signatureKeys: readonly string[]
  /** The origin of the API. */
  readonly apiBase: string
  readonly hostedFormUrl: string
  /** Of our page that opens the hosted form; `null` when its address is not known. */
  readonly pageUrl: string | null
  /** For all calls of one request together. */
  readonly timeoutMs: number
  /** Calls; 0 for no limit. */
  readonly maxPerSecond: number
}

export function createAuthorizeNet(options: AuthorizeNetOptions): Provider {
  const { apiLoginId, transactionKey, signatureKeys, apiBase, timeoutMs, hostedFormUrl } = options
  const pace = createPace({ perSecond: options.maxPerSecond })
  const gateway = createGateway({ account: { apiLoginId, transactionKey }, apiBase, timeoutMs, pace })
  return withTimeLimits(timeoutMs, {
    id: 'authorize-net',
    checkAmount,
    isTestMethod: () => false,
    newPaymentId: newFindableId,

    createIntent: (request) => createIntent(gateway, request, options.pageUrl),
    retrieveIntent: (intent) => retrieveIntent(gateway, intent),
    // The intent's id is the invoice number, which follows from the payment id: no search is needed.
    findIntents: null,
    findPaymentId: (ids) => findPaymentId(gateway, ids),
    cancelIntent: (intent) => cancelIntent(gateway, intent),
    captureIntent: null,
    captureAuthorized: (request) => captureAuthorized(gateway, request),
    checkRefund: (request) => checkRefund(gateway, request),
    refund: (request) => refund(gateway, request),
    pagesExpire: true,
    hostedFormUrl,

    createSetupIntent: null,
    methods: withTimeLimits(timeoutMs, createMethods(gateway)),
    // Authorize.Net stores no products.
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
  })
}
