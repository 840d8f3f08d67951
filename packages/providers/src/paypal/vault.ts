// PayPal's vault v3: the payment methods that a payer has saved.
import type { MethodDetails } from '@paylog/domain/payment-methods/events'
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Code } from '../fields.ts'
import { type HttpResponse, readResponse } from '../http.ts'
import { ProviderError } from '../provider.ts'
import { customerMissing, type ProviderMethods } from '../providerMethods.ts'
import { type PaypalClient, type PaypalRejection, rejectionError } from './client.ts'

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
const paymentToken = Compile(
  Type.Object({ id: Code, customer: Type.Object({ id: Code }), payment_source: Type.Optional(PaymentSource) }),
)

const tokenList = Compile(Type.Object({ payment_tokens: Type.Optional(Type.Array(Type.Object({ id: Code }))) }))
/** PayPal's maximum. */
const tokensPerPage = 5

/** The format that PayPal accepts for our customer ids. */
const merchantCustomerId = /^[0-9a-zA-Z_.^*$@#-]{1,64}$/

/** Clients send setup tokens that the payer has approved. */
export function createVault(client: PaypalClient): ProviderMethods {
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
      const attached = await client.call({ method: 'POST', path: '/v3/vault/payment-tokens', key, body }, (response) =>
        readResponse(paymentToken, response),
      )
      if (attached.rejection) throw attachError(attached.rejection)
      const { id: provider_method_id, customer: owner, payment_source } = attached.value
      return { ...detailsOf(payment_source), provider_method_id, provider_customer_id: owner.id }
    },

    async readMethod({ token }) {
      const found = await client.call(
        { method: 'GET', path: `/v3/vault/setup-tokens/${encodeURIComponent(token)}` },
        (response) => readResponse(setupToken, response),
      )
      if (found.rejection) throw rejectionError(found.rejection)
      return { ...detailsOf(found.value.payment_source), provider_method_id: found.value.id }
    },

    async retrieveMethod({ provider_method_id, provider_customer_id }) {
      const found = await client.call({ method: 'GET', path: tokenPath(provider_method_id) }, (response) =>
        readResponse(paymentToken, response),
      )
      if (found.rejection?.status === 404) return null
      if (found.rejection) throw rejectionError(found.rejection)
      const { customer, payment_source } = found.value
      return customer.id === provider_customer_id ? detailsOf(payment_source) : null
    },

    detachMethod: ({ provider_method_id }) => deleteToken(client, provider_method_id, client.timeoutMs),

    deleteCustomer: (id) => deleteTokensOf(client, id),
  }
}

/** PayPal has no customers apart from their payment tokens, and forgets a customer without any. */
async function deleteTokensOf(client: PaypalClient, customerId: string): Promise<void> {
  const giveUpAt = performance.now() + client.timeoutMs
  const leftMs = () => giveUpAt - performance.now()
  const path = `/v3/vault/payment-tokens?customer_id=${encodeURIComponent(customerId)}&page_size=${tokensPerPage}`
  for (;;) {
    // Always the first page, because the others move up.
    const found = await client.call({ method: 'GET', path }, (response) => readResponse(tokenList, response), leftMs())
    if (found.rejection?.status === 404) return
    if (found.rejection) throw rejectionError(found.rejection)
    const { payment_tokens: tokens = [] } = found.value
    for (const { id } of tokens) await deleteToken(client, id, leftMs())
    if (tokens.length < tokensPerPage) return
  }
}

async function deleteToken(client: PaypalClient, id: string, timeoutMs: number): Promise<void> {
  const { rejection } = await client.call({ method: 'DELETE', path: tokenPath(id) }, () => undefined, timeoutMs)
  if (rejection && rejection.status !== 404) throw rejectionError(rejection)
}

/**
 * The kind of a saved method, which the `vault_id` of an order has to be sent with. A method that PayPal no longer knows is
 * sent as `paypal`: the order is rejected then, unless the call is repeated and an earlier one was paid.
 * @throws ProviderError
 */
export async function vaultedSource(client: PaypalClient, id: string, timeoutMs: number): Promise<string> {
  const read = (response: HttpResponse) => readResponse(paymentToken, response)
  const found = await client.call({ method: 'GET', path: tokenPath(id) }, read, timeoutMs)
  if (found.rejection && found.rejection.status !== 404) throw rejectionError(found.rejection)
  return detailsOf(found.rejection ? {} : found.value.payment_source).payment_type ?? 'paypal'
}

/** PayPal documents no error for an unknown customer. We treat a rejection of the customer id field as one. */
function attachError(rejection: PaypalRejection): ProviderError {
  if (rejection.field !== '/customer/id') return rejectionError(rejection)
  return new ProviderError('rejected', customerMissing, 'PayPal does not know the customer')
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
