// Customers and their saved methods. https://docs.stripe.com/api/payment_methods
import type Stripe from 'stripe'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { checked } from '../answers.ts'
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
      api.ask(async (stripe, timeLeft) => {
        const answer = await stripe.customers.create(
          { ...(email ? { email } : {}), ...(name ? { name } : {}) },
          { ...timeLeft(), idempotencyKey: idempotency_key },
        )
        return checked(customer, answer).id
      }),

    async attachMethod({ idempotency_key, token, provider_customer_id }) {
      if (provider_customer_id === null) throw new Error('A method at Stripe is attached to a customer')
      const attached = await api.ask(async (stripe, timeLeft) => {
        const id = await methodIdOf(stripe, token, timeLeft)
        return attachMethod(stripe, { id, idempotency_key, provider_customer_id, timeLeft })
      })
      return { ...readMethodOf(attached), provider_customer_id }
    },

    readMethod: ({ token }) =>
      api.ask(async (stripe, timeLeft) => {
        const id = await methodIdOf(stripe, token, timeLeft)
        const method = checked(paymentMethod, await stripe.paymentMethods.retrieve(id, {}, timeLeft()))
        // Whoever has seen its id somewhere learns nothing about a card that is somebody's, not even that it is one.
        if (method.customer) throw rejected('attached')
        return readMethodOf(method)
      }),

    retrieveMethod: ({ provider_method_id: id, provider_customer_id }) =>
      api.ask(async (stripe, timeLeft) => {
        const method = await findMethodOf(stripe, { id, provider_customer_id, timeLeft })
        return method && detailsOf(method)
      }),

    detachMethod: ({ provider_method_id }) =>
      api.ask(async (stripe, timeLeft) => {
        try {
          // Without a key: an error that is kept under one would keep the method for a day.
          checked(paymentMethod, await stripe.paymentMethods.detach(provider_method_id, {}, timeLeft()))
        } catch (refusal) {
          if (!isInvalidRequest(refusal)) throw refusal
          // Stripe has no code for "not attached".
          const method = await findMethod(stripe, provider_method_id, timeLeft)
          if (method?.customer) throw refusal
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
  return checked(paymentMethod, await stripe.paymentMethods.create({ type: 'card', card: { token } }, options)).id
}
