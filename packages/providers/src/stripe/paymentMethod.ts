// A payment method of Stripe's, and what is read from it. https://docs.stripe.com/api/payment_methods/object
import type { MethodDetails } from '@paylog/domain/payment-methods/events'
import type Stripe from 'stripe'
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { checkResponse } from '../answers.ts'
import { Code } from '../fields.ts'
import type { ReadMethod } from '../provider.ts'
import type { TimeLeft } from './api.ts'
import { codeIn, idIn, Maybe, objectIn, Reference } from './fields.ts'
import { isMissing } from './refusals.ts'

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
export const paymentMethod = Compile(PaymentMethod)

/** A method, and whose it should be. */
export type MethodLookup = { readonly id: string; readonly provider_customer_id: string; readonly timeLeft: TimeLeft }

/** A method if it is the customer's. */
export async function findMethodOf(stripe: Stripe, lookup: MethodLookup): Promise<PaymentMethod | null> {
  const method = await findMethod(stripe, lookup.id, lookup.timeLeft)
  return idIn(method?.customer) === lookup.provider_customer_id ? method : null
}

/** A method, whosever it is. */
export async function findMethod(stripe: Stripe, id: string, timeLeft: TimeLeft): Promise<PaymentMethod | null> {
  try {
    return checkResponse(paymentMethod, await stripe.paymentMethods.retrieve(id, {}, timeLeft()))
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

export function readMethodOf(method: PaymentMethod): ReadMethod {
  return { ...detailsOf(method), provider_method_id: method.id }
}

export function detailsOf(method: PaymentMethod): MethodDetails {
  const { type, card } = method
  return {
    payment_type: type,
    wallet_type: card?.wallet?.type ?? null,
    card_brand: card?.brand ?? null,
    // Bank debits have one as well.
    last_four: codeIn(objectIn(objectIn(method)[type]).last4),
    expiry_month: card?.exp_month ? String(card.exp_month).padStart(2, '0') : null,
    expiry_year: card?.exp_year ? String(card.exp_year) : null,
  }
}
