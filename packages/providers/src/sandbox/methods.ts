// The sandbox's customers and saved methods. It keeps none: their ids follow from what they are made of.
import type { MethodDetails } from '@paylog/domain/payment-methods/events'
import { ProviderError, type ProviderMethods } from '../provider.ts'
import { derivedId } from './ids.ts'

export const declinedCard = 'pm_card_declined'

const card = (card_brand: string, last_four: string): MethodDetails => ({
  payment_type: 'card',
  wallet_type: null,
  card_brand,
  last_four,
  expiry_month: '12',
  expiry_year: '2034',
})

/** What its tokens stand for. Everybody has the same ones, and each owner gets a method of their own from them. */
export const cards: ReadonlyMap<string, MethodDetails> = new Map([
  ['pm_card_visa', card('visa', '4242')],
  ['pm_card_mastercard', card('mastercard', '4444')],
  ['pm_card_amex', card('amex', '8431')],
])

export const sandboxMethods: ProviderMethods = {
  createCustomer: async ({ user_id }) => `sandbox_cus_${derivedId(['customer', user_id])}`,

  async attachMethod({ token, provider_customer_id }) {
    if (provider_customer_id === null) throw new Error('A method at the sandbox is attached to a customer')
    const provider_method_id = `sandbox_pm_${derivedId(['attached', provider_customer_id, token])}`
    return { ...cardOf(token), provider_method_id, provider_customer_id }
  },

  async readMethod({ token, owner }) {
    return { ...cardOf(token), provider_method_id: `sandbox_pm_${derivedId(['read', owner, token])}` }
  },

  // It keeps nothing that could be asked for.
  retrieveMethod: null,
  detachMethod: async () => undefined,
}

/** @throws ProviderError `declined`, `rejected` */
function cardOf(token: string): MethodDetails {
  if (token === declinedCard) throw declined()
  const found = cards.get(token)
  if (found) return found
  throw new ProviderError('rejected', 'unknown_token', 'The sandbox knows no such token')
}

export function declined(): ProviderError {
  return new ProviderError('declined', 'card_declined', 'The card was declined')
}
