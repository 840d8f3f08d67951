// An intent is a token for the hosted payment form. It charges nothing, so that another one does no harm.
import type { CreateIntent, ProviderIntent } from '../provider.ts'
import { decimalOf } from './amounts.ts'
import { hostedPaymentPage } from './answers.ts'
import { startDeadline } from './api.ts'
import type { Gateway } from './gateway.ts'
import { invoiceNumberOf } from './invoiceNumber.ts'
import { plainText } from './plainText.ts'

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

/** The token is valid for 15 minutes; a repeated call gives another one for the same invoice. @throws ProviderError */
export async function createIntent({ api, timeoutMs }: Gateway, request: CreateIntent): Promise<ProviderIntent> {
  const invoiceNumber = invoiceNumberOf(request.payment_id)
  const { body } = await api.repeatable({
    method: 'getHostedPaymentPage',
    members: {
      refId: invoiceNumber,
      transactionRequest: {
        transactionType: 'authCaptureTransaction',
        amount: decimalOf(request.amount_cents),
        currencyCode: request.currency,
        order: {
          invoiceNumber,
          ...(request.description === null ? {} : { description: plainText(request.description) }),
        },
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
    answer: hostedPaymentPage,
    deadline: startDeadline(timeoutMs),
  })
  return { provider_intent_id: invoiceNumber, client_secret: body.token }
}
