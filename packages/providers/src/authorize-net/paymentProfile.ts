// A saved method as Authorize.Net shows it: masked.
import type { MethodDetails } from '@paylog/domain/payment-methods/events'
import { type PaymentProfile, paymentProfile } from './answers.ts'
import type { Api, Deadline } from './api.ts'

export type ProfileRef = { readonly customerProfileId: string; readonly customerPaymentProfileId: string }

/** @throws ProviderError */
export async function readPaymentProfile(api: Api, deadline: Deadline, ref: ProfileRef): Promise<MethodDetails> {
  const { customerProfileId, customerPaymentProfileId } = ref
  const { body } = await api.idempotent({
    method: 'getCustomerPaymentProfile',
    members: { customerProfileId, customerPaymentProfileId, unmaskExpirationDate: true },
    response: paymentProfile,
    deadline,
  })
  return detailsOf(body.paymentProfile)
}

/** A wallet's token stands for a card, and has a number of its own. */
function detailsOf({ payment }: PaymentProfile): MethodDetails {
  const { creditCard, bankAccount, tokenInformation } = payment ?? {}
  const number = creditCard?.cardNumber ?? bankAccount?.accountNumber ?? tokenInformation?.tokenNumber ?? ''
  const expiry = /^(\d{4})-(\d\d)$/.exec(creditCard?.expirationDate ?? tokenInformation?.expirationDate ?? '')
  return {
    payment_type: creditCard || tokenInformation ? 'card' : bankAccount ? 'bank_account' : null,
    wallet_type: null,
    card_brand: creditCard?.cardType ?? null,
    last_four: /\d{4}$/.exec(number)?.[0] ?? null,
    expiry_month: expiry?.[2] ?? null,
    expiry_year: expiry?.[1] ?? null,
  }
}
