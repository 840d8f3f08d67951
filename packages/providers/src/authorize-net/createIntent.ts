// An intent is a token for the hosted payment form. It charges nothing, so that another one does no harm.
import type { CreateIntent, ProviderIntent } from '../provider.ts'
import { decimalOf } from './amounts.ts'
import { hostedPaymentPage } from './answers.ts'
import { type Deadline, startDeadline } from './api.ts'
import type { Gateway } from './gateway.ts'
import { invoiceNumberOf } from './invoiceNumber.ts'
import { plainText } from './plainText.ts'
import { isNotFound } from './refusals.ts'

/**
 * For so long the gateway refuses the same card, amount and invoice once more, in seconds: its maximum. Two tokens of one
 * payment may be around, and a payer may submit both.
 */
const duplicateWindowSeconds = 28_800

const formSettings = {
  hostedPaymentButtonOptions: { text: 'Pay' },
  // The invoice number is ours and says nothing to a payer.
  hostedPaymentOrderOptions: { show: false },
}

/**
 * The token is valid for 15 minutes; a repeated call gives another one for the same invoice. The form offers what the
 * customer has saved, and leaves the choice to the payer: a form cannot be told which one of them to take.
 * https://developer.authorize.net/api/reference/features/accept-hosted.html
 * @throws ProviderError
 */
export async function createIntent(gateway: Gateway, request: CreateIntent): Promise<ProviderIntent> {
  const { provider_customer_id } = request
  const deadline = startDeadline(gateway.timeoutMs)
  if (provider_customer_id === null) return requestHostedPage(gateway, deadline, request)
  try {
    return await requestHostedPage(gateway, deadline, request)
  } catch (error) {
    // A payer can pay with a card as well whose customer the gateway does not know any more.
    if (isNotFound(error)) return requestHostedPage(gateway, deadline, { ...request, provider_customer_id: null })
    throw error
  }
}

async function requestHostedPage({ api }: Gateway, deadline: Deadline, request: CreateIntent): Promise<ProviderIntent> {
  const { payment_id, description, provider_customer_id: customerProfileId } = request
  const invoiceNumber = invoiceNumberOf(payment_id)
  const { body } = await api.idempotent({
    method: 'getHostedPaymentPage',
    members: {
      refId: invoiceNumber,
      transactionRequest: {
        transactionType: 'authCaptureTransaction',
        amount: decimalOf(request.amount_cents),
        currencyCode: request.currency,
        ...(customerProfileId === null ? {} : { profile: { customerProfileId } }),
        order: { invoiceNumber, ...(description === null ? {} : { description: plainText(description) }) },
        transactionSettings: {
          setting: [{ settingName: 'duplicateWindow', settingValue: String(duplicateWindowSeconds) }],
        },
      },
      hostedPaymentSettings: {
        setting: Object.entries(formSettings).map(([settingName, value]) => ({
          settingName,
          settingValue: JSON.stringify(value),
        })),
      },
    },
    response: hostedPaymentPage,
    deadline,
  })
  return { provider_intent_id: invoiceNumber, client_secret: body.token }
}
