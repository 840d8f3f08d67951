// Customers and their saved methods. https://docs.stripe.com/api/payment_methods
import type Stripe from 'stripe'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { checkResponse } from '../answers.ts'
import { Code } from '../fields.ts'
import type { ProviderMethods } from '../provider.ts'
import type { StripeApi, TimeLeft } from './api.ts'
import { attachMethod } from './attachMethod.ts'
import { detailsOf, findMethod, findMethodOf, paymentMethod, readMethodOf } from './paymentMethod.ts'
import { isInvalidRequest, rejected } from './refusals.ts'

const customer = Compile(Type.Object({ id: Code }))

export function createMethods(api: StripeApi): ProviderMethods {
  return {
    createCustomer: ({ idempotency_key, email, name }) =>
      api.call(async (stripe, timeLeft) => {
        const answer = await stripe.customers.create(
          { ...(email ? { email } : {}), ...(name ? { name } : {}) },
          { ...timeLeft(), idempotencyKey: idempotency_key },
        )
        return checkResponse(customer, answer).id
      }),

    async attachMethod({ idempotency_key, token, provider_customer_id }) {
      if (provider_customer_id === null) throw new Error('A method at Stripe is attached to a customer')
      const attached = await api.call(async (stripe, timeLeft) => {
        const id = await methodIdOf(stripe, token, timeLeft)
        return attachMethod(stripe, { id, idempotency_key, provider_customer_id, timeLeft })
      })
      return { ...readMethodOf(attached), provider_customer_id }
    },

    readMethod: ({ token }) =>
      api.call(async (stripe, timeLeft) => {
        const id = await methodIdOf(stripe, token, timeLeft)
        const method = checkResponse(paymentMethod, await stripe.paymentMethods.retrieve(id, {}, timeLeft()))
        // Whoever has seen its id somewhere learns nothing about a card that is somebody's, not even that it is one.
        if (method.customer) throw rejected('attached')
        return readMethodOf(method)
      }),

    retrieveMethod: ({ provider_method_id: id, provider_customer_id }) =>
      api.call(async (stripe, timeLeft) => {
        const method = await findMethodOf(stripe, { id, provider_customer_id, timeLeft })
        return method && detailsOf(method)
      }),

    detachMethod: ({ provider_method_id }) =>
      api.call(async (stripe, timeLeft) => {
        try {
          // Without a key: an error that is kept under one would keep the method for a day.
          checkResponse(paymentMethod, await stripe.paymentMethods.detach(provider_method_id, {}, timeLeft()))
        } catch (error) {
          if (!isInvalidRequest(error)) throw error
          // Stripe has no code for "not attached".
          const method = await findMethod(stripe, provider_method_id, timeLeft)
          if (method?.customer) throw error
        }
      }),
  }
}

/**
 * A token of the older card forms is made a method first. It can be used once, so it is its own key: whoever comes with
 * the same token finds the same method.
 */
async function methodIdOf(stripe: Stripe, token: string, timeLeft: TimeLeft): Promise<string> {
  if (!token.startsWith('tok_')) return token
  const options = { ...timeLeft(), idempotencyKey: `${token}-method` }
  return checkResponse(paymentMethod, await stripe.paymentMethods.create({ type: 'card', card: { token } }, options)).id
}
