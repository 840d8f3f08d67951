// The hosted payment form: its token, which is the client secret, and our page that posts the token to it. A token charges
// nothing, so a second one does no harm.
import { endOfPaymentId } from '../findableId.ts'
import type { CreateIntent, ProviderIntent } from '../provider.ts'
import { hostedPaymentPage, isNotFound } from './api.ts'
import { plainText, toDecimal } from './fields.ts'
import type { Gateway } from './gateway.ts'

/**
 * How long the gateway rejects a repetition of the same card, amount and invoice, in seconds: its maximum. A payment
 * can have two tokens, and a payer may submit both.
 */
export const duplicateWindow = { settingName: 'duplicateWindow', settingValue: '28800' }

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
export async function createIntent(
  gateway: Gateway,
  request: CreateIntent,
  pageUrl: string | null,
): Promise<ProviderIntent> {
  const { provider_customer_id } = request
  const token = await requestToken(gateway, request).catch((error: unknown) => {
    // Without the customer the payer can still enter a card.
    if (provider_customer_id === null || !isNotFound(error)) throw error
    return requestToken(gateway, { ...request, provider_customer_id: null })
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

async function requestToken({ api }: Gateway, request: CreateIntent): Promise<string> {
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
