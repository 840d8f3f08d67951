// The sandbox's test methods, and the customers and saved methods made of them.
import { createHash } from 'node:crypto'
import type { MethodDetails } from '@paylog/domain/payment-methods/events'
import { ProviderError } from '../provider.ts'
import type { ProviderMethods } from '../providerMethods.ts'

/** The payer has to act before the provider takes the money, such as in 3-D Secure. */
export const actionRequiredCard = 'pm_card_actionRequired'
/** The payer approves, and we have to capture, as at PayPal. */
export const approvalCard = 'pm_card_approval'
/** A refund is pending until it fails. */
export const refundFailsCard = 'pm_card_refundFails'
/** The payer disputes the charge as soon as it succeeds. */
export const disputeCard = 'pm_card_dispute'

/** Cards that are declined when the payment is created. */
const declines: ReadonlyMap<string, readonly [code: string, message: string]> = new Map([
  ['pm_card_declined', ['card_declined', 'The card was declined']],
  ['pm_card_insufficientFunds', ['insufficient_funds', 'The card has insufficient funds']],
])

const card = (card_brand: string, last_four: string): MethodDetails => ({
  payment_type: 'card',
  wallet_type: null,
  card_brand,
  last_four,
  expiry_month: '12',
  expiry_year: '2034',
})

/** The cards that can be saved. They are shared, and each owner gets a different method from the same token. */
const cards: ReadonlyMap<string, MethodDetails> = new Map([
  ['pm_card_visa', card('visa', '4242')],
  ['pm_card_mastercard', card('mastercard', '4444')],
  ['pm_card_amex', card('amex', '8431')],
])

const testMethods: ReadonlySet<string> = new Set([
  ...cards.keys(),
  ...declines.keys(),
  ...[actionRequiredCard, approvalCard, refundFailsCard, disputeCard],
])

export const isTestMethod = (token: string) => testMethods.has(token)

/** @throws ProviderError `declined` */
export function requireAccepted(token: string | null): void {
  const decline = declines.get(token ?? '')
  if (decline) throw new ProviderError('declined', ...decline)
}

export const sandboxMethods: ProviderMethods = {
  // The key differs for the customer that follows a deleted one.
  createCustomer: async ({ user_id, idempotency_key }) =>
    `sandbox_cus_${derivedId(['customer', user_id, idempotency_key])}`,

  async attachMethod({ token, provider_customer_id }) {
    if (provider_customer_id === null) throw new Error('A method at the sandbox must be attached to a customer')
    const provider_method_id = `sandbox_pm_${derivedId(['attached', provider_customer_id, token])}`
    return { ...cardOf(token), provider_method_id, provider_customer_id }
  },

  async readMethod({ token, owner }) {
    return { ...cardOf(token), provider_method_id: `sandbox_pm_${derivedId(['read', owner, token])}` }
  },

  // Neither customers nor methods are stored, so there is nothing to retrieve or to delete.
  retrieveMethod: null,
  detachMethod: async () => undefined,
  deleteCustomer: async () => undefined,
}

/** @throws ProviderError `declined`, `rejected` */
function cardOf(token: string): MethodDetails {
  requireAccepted(token)
  const found = cards.get(token)
  if (found) return found
  throw new ProviderError('rejected', 'unknown_token', 'The token is not a test card that the sandbox can save')
}

/** UUID-shaped: our check for card numbers could mistake a plain hash for one when a client sends the id back. */
export function derivedId(parts: readonly unknown[]): string {
  const digits = createHash('sha256').update(JSON.stringify(parts)).digest('hex')
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5')
}
