// Vault v3: what a payer has agreed to be charged with again.
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Code } from '../fields.ts'
import { readAnswer } from '../http.ts'
import type { AttachedMethod, MethodDetails, ProviderMethods } from '../provider.ts'
import type { PaypalClient } from './client.ts'
import { refused } from './refusals.ts'

const Card = Type.Object({
  brand: Type.Optional(Code),
  last_digits: Type.Optional(Type.String({ pattern: '^[0-9]{2,4}$' })),
  expiry: Type.Optional(Type.String({ pattern: '^[0-9]{4}-[0-9]{2}$' })),
})
/** One of the members says what it is: `card`, `paypal`, `venmo`, `apple_pay`, … */
const PaymentSource = Type.Object({
  card: Type.Optional(Card),
  apple_pay: Type.Optional(Type.Object({ card: Type.Optional(Card) })),
})

const SetupToken = Type.Object({ id: Code, payment_source: Type.Optional(PaymentSource) })
const setupToken = Compile(SetupToken)
const paymentToken = Compile(
  Type.Object({ id: Code, customer: Type.Object({ id: Code }), payment_source: Type.Optional(PaymentSource) }),
)

/** What PayPal takes as our name of a customer. */
const merchantCustomerId = /^[0-9a-zA-Z_.^*$@#-]{1,64}$/

/** The tokens that a client brings are setup tokens, which its payer has approved. */
export function createVault(client: PaypalClient): ProviderMethods {
  return {
    // A customer comes into being with the first method.
    createCustomer: async () => null,

    async attachMethod({ idempotency_key, token, user_id, provider_customer_id }): Promise<AttachedMethod> {
      const customer = {
        ...(provider_customer_id === null ? {} : { id: provider_customer_id }),
        ...(merchantCustomerId.test(user_id) ? { merchant_customer_id: user_id } : {}),
      }
      const body = JSON.stringify({
        payment_source: { token: { id: token, type: 'SETUP_TOKEN' } },
        ...(Object.keys(customer).length === 0 ? {} : { customer }),
      })
      const attached = await client.call(
        { method: 'POST', path: '/v3/vault/payment-tokens', key: idempotency_key, body },
        (answer) => readAnswer(paymentToken, answer),
      )
      if (attached.refusal) throw refused(attached.refusal)
      return { ...detailsOf(attached.value), provider_customer_id: attached.value.customer.id }
    },

    async readMethod(token) {
      const found = await client.call(
        { method: 'GET', path: `/v3/vault/setup-tokens/${encodeURIComponent(token)}` },
        (answer) => readAnswer(setupToken, answer),
      )
      if (found.refusal) throw refused(found.refusal)
      return detailsOf(found.value)
    },

    async detachMethod({ provider_method_id }) {
      const path = `/v3/vault/payment-tokens/${encodeURIComponent(provider_method_id)}`
      const { refusal } = await client.call({ method: 'DELETE', path }, () => undefined)
      if (refusal && refusal.status !== 404) throw refused(refusal)
    },
  }
}

function detailsOf({ id, payment_source: source = {} }: Static<typeof SetupToken>): MethodDetails {
  const [payment_type = null] = Object.keys(source)
  const { brand, last_digits, expiry } = source.card ?? source.apple_pay?.card ?? {}
  const [year, month] = expiry?.split('-') ?? []
  return {
    provider_method_id: id,
    payment_type,
    wallet_type: payment_type === 'card' || payment_type === 'bank' ? null : payment_type,
    card_brand: brand?.toLowerCase() ?? null,
    last_four: last_digits ?? null,
    expiry_month: month ?? null,
    expiry_year: year ?? null,
  }
}
