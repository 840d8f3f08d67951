// Stripe's customers and saved payment methods. https://docs.stripe.com/api/payment_methods

import type { MethodDetails } from '@paylog/domain/payment-methods/events'
import type Stripe from 'stripe'
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Code } from '../fields.ts'
import { ProviderError } from '../provider.ts'
import { customerMissing, type ProviderMethods, type ReadMethod } from '../providerMethods.ts'
import { checkResponse, unreadableResponse } from '../responses.ts'
import { isInvalidRequest, isMissing, rejected, type StripeApi, type TimeLeft, toProviderError } from './api.ts'
import { codeIn, idIn, Maybe, objectIn, Reference } from './fields.ts'

const PaymentMethod = Type.Object({
  id: Code,
  type: Code,
  customer: Maybe(Reference),
  card: Maybe(
    Type.Object({
      brand: Maybe(Code),
      exp_month: Maybe(Type.Integer({ minimum: 1, maximum: 12 })),
      exp_year: Maybe(Type.Integer({ minimum: 1000, maximum: 9999 })),
      wallet: Maybe(Type.Object({ type: Code })),
    }),
  ),
})
export type PaymentMethod = Static<typeof PaymentMethod>
const paymentMethod = Compile(PaymentMethod)

const customer = Compile(Type.Object({ id: Code }))
const deletedCustomer = Compile(Type.Object({ id: Code, deleted: Type.Literal(true) }))

export function createMethods(api: StripeApi): ProviderMethods {
  return {
    createCustomer: ({ idempotency_key, email, name }) =>
      api.call(async (stripe, timeLeft) => {
        const response = await stripe.customers.create(
          { ...(email ? { email } : {}), ...(name ? { name } : {}) },
          { ...timeLeft(), idempotencyKey: idempotency_key },
        )
        return checkResponse(customer, response).id
      }),

    async attachMethod({ idempotency_key, token, provider_customer_id }) {
      if (provider_customer_id === null) throw new Error('A method at Stripe must be attached to a customer')
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
        // A caller who only has the id must learn nothing about another customer's card, not even that it is a card.
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
          // Without a key: Stripe would replay an error for a day.
          checkResponse(paymentMethod, await stripe.paymentMethods.detach(provider_method_id, {}, timeLeft()))
        } catch (error) {
          if (!isInvalidRequest(error)) throw error
          // Stripe has no code for "not attached".
          const method = await findMethod(stripe, provider_method_id, timeLeft)
          if (method?.customer) throw error
        }
      }),

    deleteCustomer: (id) =>
      api.call(async (stripe, timeLeft) => {
        try {
          checkResponse(deletedCustomer, await stripe.customers.del(id, {}, timeLeft()))
        } catch (error) {
          if (!isMissing(error)) throw error
        }
      }),
  }
}

/**
 * Converts a token of the older card forms to a method. The token is the key, because it can be used only once: the
 * same token always returns the same method.
 */
async function methodIdOf(stripe: Stripe, token: string, timeLeft: TimeLeft): Promise<string> {
  if (!token.startsWith('tok_')) return token
  const options = { ...timeLeft(), idempotencyKey: `${token}-method` }
  return checkResponse(paymentMethod, await stripe.paymentMethods.create({ type: 'card', card: { token } }, options)).id
}

/** A method and its expected customer. */
export type MethodLookup = { readonly id: string; readonly provider_customer_id: string; readonly timeLeft: TimeLeft }

/** @returns the method, or `null` if it does not belong to the customer */
async function findMethodOf(stripe: Stripe, lookup: MethodLookup): Promise<PaymentMethod | null> {
  const method = await findMethod(stripe, lookup.id, lookup.timeLeft)
  return idIn(method?.customer) === lookup.provider_customer_id ? method : null
}

/** @returns the method of any customer, or `null` if there is none */
async function findMethod(stripe: Stripe, id: string, timeLeft: TimeLeft): Promise<PaymentMethod | null> {
  try {
    return checkResponse(paymentMethod, await stripe.paymentMethods.retrieve(id, {}, timeLeft()))
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

function readMethodOf(method: PaymentMethod): ReadMethod {
  return { ...detailsOf(method), provider_method_id: method.id }
}

function detailsOf(method: PaymentMethod): MethodDetails {
  const { type, card } = method
  return {
    payment_type: type,
    wallet_type: card?.wallet?.type ?? null,
    card_brand: card?.brand ?? null,
    // Bank debits have `last4` too.
    last_four: codeIn(objectIn(objectIn(method)[type]).last4),
    expiry_month: card?.exp_month ? String(card.exp_month).padStart(2, '0') : null,
    expiry_year: card?.exp_year ? String(card.exp_year) : null,
  }
}

type Attachment = MethodLookup & { readonly idempotency_key: string }

/** Succeeds when the method is already attached to the customer. @throws ProviderError, and what `stripe` throws */
async function attachMethod(stripe: Stripe, attachment: Attachment): Promise<PaymentMethod> {
  const { id, idempotency_key, provider_customer_id: customer, timeLeft } = attachment
  // The key includes the customer: the user gets a new customer if Stripe lost the first.
  const options = { ...timeLeft(), idempotencyKey: `${idempotency_key}-${customer}` }
  let response: Stripe.Response<Stripe.PaymentMethod>
  try {
    response = await stripe.paymentMethods.attach(id, { customer }, options)
  } catch (error) {
    if (isMissing(error, 'customer')) throw customerMissingError(error)
    if (!isInvalidRequest(error)) throw error
    // A setup intent of the same customer has attached the method already, and Stripe rejects a second attachment.
    return (await findMethodOf(stripe, attachment)) ?? Promise.reject(error)
  }
  const method = checkResponse(paymentMethod, response)
  if (idIn(method.customer) !== customer) throw unreadableResponse('another_customer')
  if (response.lastResponse.headers['idempotent-replayed'] !== 'true') return method
  // A replayed response may be outdated: the method may have been detached since.
  const present = await findMethodOf(stripe, { ...attachment, id: method.id })
  if (present) return present
  throw new ProviderError('rejected', 'detached', 'The provider no longer accepts this token')
}

function customerMissingError(error: unknown): ProviderError {
  const cause = toProviderError(error)
  return new ProviderError('rejected', customerMissing, 'The provider does not know the customer', { cause })
}
