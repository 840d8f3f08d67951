// PayPal's vault v3: the payment methods that a payer has saved.
import type { MethodDetails } from '@paylog/domain/payment-methods/events'
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Code } from '../fields.ts'
import { ProviderError } from '../provider.ts'
import { ErrorResponse } from '../providerApi.ts'
import { customerMissing, type ProviderMethods } from '../providerMethods.ts'
import { noContent, nullIfMissing, type PaypalApi } from './client.ts'

const Card = Type.Object({
  brand: Type.Optional(Code),
  last_digits: Type.Optional(Type.String({ pattern: '^[0-9]{2,4}$' })),
  expiry: Type.Optional(Type.String({ pattern: '^[0-9]{4}-[0-9]{2}$' })),
})
/** The present member is the type: `card`, `paypal`, `venmo`, `apple_pay`, … */
const PaymentSource = Type.Object({
  card: Type.Optional(Card),
  apple_pay: Type.Optional(Type.Object({ card: Type.Optional(Card) })),
})

const setupToken = Compile(Type.Object({ id: Code, payment_source: Type.Optional(PaymentSource) }))
const PaymentToken = Type.Object({
  id: Code,
  customer: Type.Object({ id: Code }),
  payment_source: Type.Optional(PaymentSource),
})
const paymentToken = Compile(PaymentToken)

const tokenList = Compile(Type.Object({ payment_tokens: Type.Optional(Type.Array(Type.Object({ id: Code }))) }))
/** PayPal's maximum. */
const tokensPerPage = 5

/** The format that PayPal accepts for our customer ids. */
const merchantCustomerId = /^[0-9a-zA-Z_.^*$@#-]{1,64}$/

/** Clients send setup tokens that the payer has approved. */
export function createVault(api: PaypalApi): ProviderMethods {
  return {
    // PayPal creates the customer with the first method.
    createCustomer: async () => null,

    async attachMethod({ idempotency_key, token, user_id, provider_customer_id }) {
      const customer = {
        ...(provider_customer_id === null ? {} : { id: provider_customer_id }),
        ...(merchantCustomerId.test(user_id) ? { merchant_customer_id: user_id } : {}),
      }
      const body = JSON.stringify({
        payment_source: { token: { id: token, type: 'SETUP_TOKEN' } },
        ...(Object.keys(customer).length === 0 ? {} : { customer }),
      })
      // The key includes the customer, because the user gets a new one if PayPal lost the first.
      const key = provider_customer_id === null ? idempotency_key : `${idempotency_key}-${provider_customer_id}`
      const call = { method: 'POST', path: '/v3/vault/payment-tokens', key, body } as const
      const attached = await api.request(paymentToken, call).catch(throwAttachError)
      const { id: provider_method_id, customer: owner, payment_source } = attached.body
      return { ...detailsOf(payment_source), provider_method_id, provider_customer_id: owner.id }
    },

    async readMethod({ token }) {
      const path = `/v3/vault/setup-tokens/${encodeURIComponent(token)}`
      const { id, payment_source } = (await api.request(setupToken, { method: 'GET', path })).body
      return { ...detailsOf(payment_source), provider_method_id: id }
    },

    async retrieveMethod({ provider_method_id, provider_customer_id }) {
      const found = await findToken(api, provider_method_id)
      return found?.customer.id === provider_customer_id ? detailsOf(found.payment_source) : null
    },

    detachMethod: ({ provider_method_id }) => deleteToken(api, provider_method_id),

    deleteCustomer: (id) => deleteTokensOf(api, id),
  }
}

/** PayPal has no customers apart from their payment tokens, and forgets a customer without any. */
async function deleteTokensOf(api: PaypalApi, customerId: string): Promise<void> {
  const path = `/v3/vault/payment-tokens?customer_id=${encodeURIComponent(customerId)}&page_size=${tokensPerPage}`
  for (;;) {
    // Always the first page, because the others move up.
    const found = await api.request(tokenList, { method: 'GET', path }).catch(nullIfMissing)
    const { payment_tokens: tokens = [] } = found?.body ?? {}
    for (const { id } of tokens) await deleteToken(api, id)
    if (tokens.length < tokensPerPage) return
  }
}

async function deleteToken(api: PaypalApi, id: string): Promise<void> {
  await api.request(noContent, { method: 'DELETE', path: tokenPath(id) }).catch(nullIfMissing)
}

/** @returns `null` when PayPal does not know it */
async function findToken(api: PaypalApi, id: string): Promise<Static<typeof PaymentToken> | null> {
  const found = await api.request(paymentToken, { method: 'GET', path: tokenPath(id) }).catch(nullIfMissing)
  return found?.body ?? null
}

/**
 * The kind of a saved method, which the `vault_id` of an order has to be sent with. A method that PayPal no longer knows is
 * sent as `paypal`: the order is rejected then, unless the call is repeated and an earlier one was paid.
 * @throws ProviderError
 */
export async function vaultedSource(api: PaypalApi, id: string): Promise<string> {
  return detailsOf((await findToken(api, id))?.payment_source).payment_type ?? 'paypal'
}

/** PayPal documents no error for an unknown customer. We treat a rejection of the customer id field as one. */
function throwAttachError(error: unknown): never {
  if (!(error instanceof ErrorResponse) || error.field !== '/customer/id') throw error
  throw new ProviderError('rejected', customerMissing, 'PayPal does not know the customer')
}

const tokenPath = (id: string) => `/v3/vault/payment-tokens/${encodeURIComponent(id)}`

function detailsOf(source: Static<typeof PaymentSource> = {}): MethodDetails {
  const [payment_type = null] = Object.keys(source)
  const { brand, last_digits, expiry } = source.card ?? source.apple_pay?.card ?? {}
  const [year, month] = expiry?.split('-') ?? []
  return {
    payment_type,
    wallet_type: payment_type === 'card' || payment_type === 'bank' ? null : payment_type,
    card_brand: brand?.toLowerCase() ?? null,
    last_four: last_digits ?? null,
    expiry_month: month ?? null,
    expiry_year: year ?? null,
  }
}
