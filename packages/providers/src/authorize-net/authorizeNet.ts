// The Authorize.Net adapter: payments on its hosted form (Accept Hosted), identified by their invoice number. The form's
// token is the client secret, and our page posts it to the form. A token charges nothing, so a second one does no harm.
import { DomainError } from '@paylog/domain/errors'
import { endOfPaymentId, newFindableId } from '../findableId.ts'
import { createPace } from '../pacing.ts'
import type { CreateIntent, Provider, ProviderIntent } from '../provider.ts'
import { withTimeLimits } from '../timeLimit.ts'
import { duplicateWindow, emptyResponse, hostedPaymentPage, isNotFound } from './api.ts'
import { cancelIntent, captureAuthorized, checkRefund, refund } from './charges.ts'
import { completeNotification } from './completeNotification.ts'
import { findPaymentId, retrieveIntent } from './intents.ts'
import { createMerchantAccount, type MerchantAccount } from './merchantAccount.ts'
import { createMethods } from './methods.ts'
import { readNotification, readSignature, verifySignature } from './notifications.ts'
import { plainText, toDecimal } from './transactions.ts'

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
  const merchant = createMerchantAccount({ account: { apiLoginId, transactionKey }, apiBase, timeoutMs, pace })
  return withTimeLimits(timeoutMs, {
    id: 'authorize-net',
    checkAmount,
    isTestMethod: () => false,
    newPaymentId: newFindableId,

    createIntent: (request) => createIntent(merchant, request, options.pageUrl),
    retrieveIntent: (intent) => retrieveIntent(merchant, intent),
    // The intent's id is the invoice number, which follows from the payment id: no search is needed.
    findIntents: null,
    findPaymentId: (ids) => findPaymentId(merchant, ids),
    cancelIntent: (intent) => cancelIntent(merchant, intent),
    captureIntent: null,
    captureAuthorized: (request) => captureAuthorized(merchant, request),
    checkRefund: (request) => checkRefund(merchant, request),
    refund: (request) => refund(merchant, request),
    pagesExpire: true,
    hostedFormUrl,

    createSetupIntent: null,
    methods: withTimeLimits(timeoutMs, createMethods(merchant)),
    // Authorize.Net stores no products.
    readTime: () => merchant.api.readTime(),
    checkCredentials: async () => void (await merchant.api.request(emptyResponse, { method: 'authenticateTest' })),
    catalog: null,

    checkNotificationHeaders({ headers }) {
      readSignature(headers['x-anet-signature'])
    },
    async verifyNotification({ body, headers }) {
      verifySignature(signatureKeys, headers['x-anet-signature'], body)
    },
    readNotification,
    completeNotification: (notification) => completeNotification(merchant, notification),

    pausedMs: () => pace.pausedMs(),
    close: () => merchant.api.close(),
  })
}

/** The currencies of all processors that Authorize.Net works with. */
const currencies: ReadonlySet<string> = new Set('AUD CAD CHF DKK EUR GBP NOK NZD PLN SEK USD ZAR'.split(' '))

/**
 * The gateway rejects a currency that the merchant account does not accept.
 * @throws DomainError `currency_not_supported`
 */
function checkAmount(_amount_cents: number, currency: string): void {
  if (!currencies.has(currency))
    throw new DomainError('currency_not_supported', 'Authorize.Net does not process payments in this currency', {
      supported: [...currencies],
    })
}

const formSettings = {
  hostedPaymentButtonOptions: { text: 'Pay' },
  // The invoice number is internal and means nothing to a payer.
  hostedPaymentOrderOptions: { show: false },
}

/**
 * Creates a token that is valid for 15 minutes. A repeated call returns another token for the same invoice. The form lets
 * the payer choose among the saved methods; it cannot be limited to one of them.
 * https://developer.authorize.net/api/reference/features/accept-hosted.html
 * @param pageUrl of our page that opens the form; `null` when its address is not known
 * @throws ProviderError
 */
async function createIntent(
  merchant: MerchantAccount,
  request: CreateIntent,
  pageUrl: string | null,
): Promise<ProviderIntent> {
  const { provider_customer_id } = request
  const token = await requestToken(merchant, request).catch((error: unknown) => {
    // Without the customer the payer can still enter a card.
    if (provider_customer_id === null || !isNotFound(error)) throw error
    return requestToken(merchant, { ...request, provider_customer_id: null })
  })
  return {
    provider_intent_id: invoiceNumberOf(request),
    client_secret: token,
    // The fragment is never sent, so that the token stays out of logs and referrers.
    redirect_url: pageUrl === null ? null : `${pageUrl}#${encodeURIComponent(token)}`,
  }
}

/** The gateway's limit is 20 characters. */
const invoiceNumberOf = ({ payment_id }: CreateIntent) => endOfPaymentId(payment_id)

async function requestToken({ api }: MerchantAccount, request: CreateIntent): Promise<string> {
  const { description, provider_customer_id: customerProfileId, capture_method } = request
  const invoiceNumber = invoiceNumberOf(request)
  const settings = { ...formSettings, ...returnOptions(request) }
  const { body } = await api.request(hostedPaymentPage, {
    method: 'getHostedPaymentPage',
    members: {
      refId: invoiceNumber,
      transactionRequest: {
        transactionType: capture_method === 'manual' ? 'authOnlyTransaction' : 'authCaptureTransaction',
        amount: toDecimal(request.amount_cents),
        currencyCode: request.currency,
        ...(customerProfileId === null ? {} : { profile: { customerProfileId } }),
        order: { invoiceNumber, ...(description === null ? {} : { description: plainText(description) }) },
        transactionSettings: { setting: [duplicateWindow] },
      },
      hostedPaymentSettings: {
        setting: Object.entries(settings).map(([settingName, value]) => ({
          settingName,
          settingValue: JSON.stringify(value),
        })),
      },
    },
  })
  return body.token
}

/** With a return URL the form sends the payer there, instead of showing the gateway's receipt. */
function returnOptions({ return_url, cancel_url }: CreateIntent) {
  if (return_url === null && cancel_url === null) return {}
  return {
    hostedPaymentReturnOptions: {
      showReceipt: return_url === null,
      ...(return_url === null ? {} : { url: return_url, urlText: 'Continue' }),
      ...(cancel_url === null ? {} : { cancelUrl: cancel_url, cancelUrlText: 'Cancel' }),
    },
  }
}
