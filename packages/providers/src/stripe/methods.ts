// Customers and their saved methods. https://docs.stripe.com/api/payment_methods
import Stripe from 'stripe'
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { checked, unreadable } from '../answers.ts'
import { Code } from '../fields.ts'
import type { MethodDetails, ProviderMethods } from '../provider.ts'
import type { StripeApi, TimeLeft } from './api.ts'
import { isMissing } from './errors.ts'
import { codeIn, idIn, Maybe, objectIn, Reference } from './fields.ts'

const customer = Compile(Type.Object({ id: Code }))

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
type PaymentMethod = Static<typeof PaymentMethod>
const paymentMethod = Compile(PaymentMethod)

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
        const options = { ...timeLeft(), idempotencyKey: idempotency_key }
        const answer = await stripe.paymentMethods
          .attach(id, { customer: provider_customer_id }, options)
          .catch((refusal: unknown) => alreadyAttached(stripe, { id, provider_customer_id, timeLeft, refusal }))
        const method = checked(paymentMethod, answer)
        if (idIn(method.customer) !== provider_customer_id) throw unreadable('another_customer')
        return method
      })
      return { ...detailsOf(attached), provider_customer_id }
    },

    readMethod: (token) =>
      api.ask(async (stripe, timeLeft) => {
        const id = await methodIdOf(stripe, token, timeLeft)
        return detailsOf(checked(paymentMethod, await stripe.paymentMethods.retrieve(id, {}, timeLeft())))
      }),

    detachMethod: ({ provider_method_id }) =>
      api.ask(async (stripe, timeLeft) => {
        try {
          const options = { ...timeLeft(), idempotencyKey: `${provider_method_id}-detach` }
          checked(paymentMethod, await stripe.paymentMethods.detach(provider_method_id, {}, options))
        } catch (refusal) {
          if (!isRefusal(refusal)) throw refusal
          // Stripe has no code for "not attached".
          const method = await find(stripe, provider_method_id, timeLeft)
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

/** A setup intent of the same customer has attached its method already, which Stripe refuses to do again. */
async function alreadyAttached(
  stripe: Stripe,
  attempt: {
    readonly id: string
    readonly provider_customer_id: string
    readonly timeLeft: TimeLeft
    readonly refusal: unknown
  },
): Promise<PaymentMethod> {
  if (!isRefusal(attempt.refusal)) throw attempt.refusal
  const method = await find(stripe, attempt.id, attempt.timeLeft)
  if (method === null || idIn(method.customer) !== attempt.provider_customer_id) throw attempt.refusal
  return method
}

async function find(stripe: Stripe, id: string, timeLeft: TimeLeft): Promise<PaymentMethod | null> {
  try {
    return checked(paymentMethod, await stripe.paymentMethods.retrieve(id, {}, timeLeft()))
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof Stripe.errors.StripeInvalidRequestError
}

function detailsOf(method: PaymentMethod): MethodDetails {
  const { id, type, card } = method
  return {
    provider_method_id: id,
    payment_type: type,
    wallet_type: card?.wallet?.type ?? null,
    card_brand: card?.brand ?? null,
    // Bank debits have one as well.
    last_four: codeIn(objectIn(objectIn(method)[type]).last4),
    expiry_month: card?.exp_month ? String(card.exp_month).padStart(2, '0') : null,
    expiry_year: card?.exp_year ? String(card.exp_year) : null,
  }
}
