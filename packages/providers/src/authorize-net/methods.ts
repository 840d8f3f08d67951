// Authorize.Net's customers and saved methods: customer profiles and payment profiles.
//
// A client's token comes from Accept.js: `<dataDescriptor>:<dataValue>`, for example
// `COMMON.ACCEPT.INAPP.PAYMENT:eyJjb2Rl…`. It can be used once, within 15 minutes.

import { createHash } from 'node:crypto'
import type { MethodDetails } from '@paylog/domain/payment-methods/events'
import { emailForProvider } from '../lenient.ts'
import { ProviderError } from '../provider.ts'
import { ErrorResponse } from '../providerApi.ts'
import { customerMissing, type ProviderMethods } from '../providerMethods.ts'
import { checkResponse } from '../responses.ts'
import {
  type Api,
  createdPaymentProfile,
  createdProfile,
  emptyResponse,
  isNotFound,
  nullIfNotFound,
  type PaymentProfile,
  paymentProfile,
  textOf,
} from './api.ts'
import type { MerchantAccount } from './merchantAccount.ts'
import { plainText } from './transactions.ts'

const maxEmailLength = 255

export function createMethods({ api }: MerchantAccount): ProviderMethods {
  return {
    createCustomer: (owner) => createCustomer(api, owner),

    async attachMethod({ token, provider_customer_id }) {
      if (provider_customer_id === null)
        throw new ProviderError('rejected', 'no_customer', 'A method cannot be saved without a customer')
      const customerProfileId = provider_customer_id
      const customerPaymentProfileId = await createPaymentProfile(api, customerProfileId, token)
      const details = await readPaymentProfile(api, { customerProfileId, customerPaymentProfileId })
      return { ...details, provider_method_id: customerPaymentProfileId, provider_customer_id }
    },

    async readMethod({ token }) {
      const { dataDescriptor } = opaqueDataOf(token)
      return {
        // A hash, because the token itself could still be used and must not be stored.
        provider_method_id: `token-${createHash('sha256').update(token).digest('hex').slice(0, 32)}`,
        payment_type: null,
        wallet_type: wallets[dataDescriptor] ?? null,
        card_brand: null,
        last_four: null,
        expiry_month: null,
        expiry_year: null,
      }
    },

    async retrieveMethod({ provider_customer_id, provider_method_id }) {
      const ref = { customerProfileId: provider_customer_id, customerPaymentProfileId: provider_method_id }
      return readPaymentProfile(api, ref).catch(nullIfNotFound)
    },

    async detachMethod({ provider_customer_id, provider_method_id }) {
      const members = { customerProfileId: provider_customer_id, customerPaymentProfileId: provider_method_id }
      await deleteIfPresent(api, 'deleteCustomerPaymentProfile', members)
    },

    // Deletes its payment profiles as well.
    deleteCustomer: (customerProfileId) => deleteIfPresent(api, 'deleteCustomerProfile', { customerProfileId }),
  }
}

async function deleteIfPresent(api: Api, method: string, members: object): Promise<void> {
  await api.request(emptyResponse, { method, members }).catch(nullIfNotFound)
}

type ProfileOwner = { readonly user_id: string; readonly email: string | null; readonly name: string | null }

/** The gateway rejects a second profile with the same id, description and e-mail, so a repeated call creates none. */
async function createCustomer(api: Api, owner: ProfileOwner): Promise<string> {
  const email = emailForProvider(owner.email)
  const profile = {
    merchantCustomerId: merchantCustomerId(owner.user_id),
    ...(owner.name === null ? {} : { description: plainText(owner.name) }),
    ...(email === null || email.length > maxEmailLength ? {} : { email }),
  }
  try {
    const call = { method: 'createCustomerProfile', members: { profile } }
    return (await api.request(createdProfile, call)).body.customerProfileId
  } catch (error) {
    // Only the message contains the id of the existing profile.
    const [, existing] = isDuplicate(error) ? (/\bID (\d{1,20})\b/.exec(textOf(error)) ?? []) : []
    if (existing === undefined) throw error
    return existing
  }
}

/** «A duplicate record with ID … already exists.» */
function isDuplicate(error: unknown): error is ErrorResponse {
  return error instanceof ErrorResponse && error.code === 'E00039'
}

/** The gateway's limit is 20 characters. */
function merchantCustomerId(user_id: string): string {
  return createHash('sha256').update(user_id).digest('hex').slice(0, 20)
}

/**
 * Sent once: after a lost response the token may be used up. With a new token for the same card the gateway returns the
 * existing profile.
 */
async function createPaymentProfile(api: Api, customerProfileId: string, token: string) {
  try {
    const { body } = await api.request(createdPaymentProfile, {
      method: 'createCustomerPaymentProfile',
      members: {
        customerProfileId,
        paymentProfile: { payment: { opaqueData: opaqueDataOf(token) } },
        // Any other mode would create a transaction.
        validationMode: 'none',
      },
      repeat: 'once',
    })
    return body.customerPaymentProfileId
  } catch (error) {
    // The customer is the only object that the request names.
    if (isNotFound(error))
      throw new ProviderError('rejected', customerMissing, 'Authorize.Net does not know the customer', { cause: error })
    if (!isDuplicate(error)) throw error
    return checkResponse(createdPaymentProfile, error.response.body).customerPaymentProfileId
  }
}

const wallets: Readonly<Record<string, string>> = {
  'COMMON.APPLE.INAPP.PAYMENT': 'apple_pay',
  'COMMON.GOOGLE.INAPP.PAYMENT': 'google_pay',
}

/** @throws ProviderError `rejected` */
function opaqueDataOf(token: string): { readonly dataDescriptor: string; readonly dataValue: string } {
  const [, dataDescriptor, dataValue] = /^([A-Z0-9._]{1,100}):([\x21-\x7e]{1,8000})$/.exec(token) ?? []
  if (!dataDescriptor || !dataValue)
    throw new ProviderError(
      'rejected',
      'malformed_token',
      'The token does not have the form <dataDescriptor>:<dataValue>',
    )
  return { dataDescriptor, dataValue }
}

export type ProfileRef = { readonly customerProfileId: string; readonly customerPaymentProfileId: string }

/** @throws ProviderError */
async function readPaymentProfile(api: Api, ref: ProfileRef): Promise<MethodDetails> {
  const { customerProfileId, customerPaymentProfileId } = ref
  const { body } = await api.request(paymentProfile, {
    method: 'getCustomerPaymentProfile',
    members: { customerProfileId, customerPaymentProfileId, unmaskExpirationDate: true },
  })
  return detailsOf(body.paymentProfile)
}

/** `tokenInformation` is a wallet's card with a number of the wallet's own. */
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
