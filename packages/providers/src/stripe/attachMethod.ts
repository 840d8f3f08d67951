// Attaches a method to a customer, also when that was done before.
import type Stripe from 'stripe'
import { checkResponse, unreadableResponse } from '../answers.ts'
import { customerMissing, ProviderError } from '../provider.ts'
import { idIn } from './fields.ts'
import { findMethodOf, type PaymentMethod, paymentMethod, type MethodLookup } from './paymentMethod.ts'
import { isInvalidRequest, isMissing, toProviderError } from './refusals.ts'

type Attachment = MethodLookup & { readonly idempotency_key: string }

/** @throws ProviderError; what the `stripe` package throws */
export async function attachMethod(stripe: Stripe, attachment: Attachment): Promise<PaymentMethod> {
  const { id, idempotency_key, provider_customer_id: customer, timeLeft } = attachment
  // A key means the same parameters each time, and the user gets another customer when Stripe has lost the first.
  const options = { ...timeLeft(), idempotencyKey: `${idempotency_key}-${customer}` }
  let response: Stripe.Response<Stripe.PaymentMethod>
  try {
    response = await stripe.paymentMethods.attach(id, { customer }, options)
  } catch (error) {
    if (isMissing(error, 'customer')) throw customerMissingError(error)
    if (!isInvalidRequest(error)) throw error
    // A setup intent of the same customer has attached its method already, which Stripe refuses to do again.
    return (await findMethodOf(stripe, attachment)) ?? Promise.reject(error)
  }
  const method = checkResponse(paymentMethod, response)
  if (idIn(method.customer) !== customer) throw unreadableResponse('another_customer')
  if (response.lastResponse.headers['idempotent-replayed'] !== 'true') return method
  // What is kept under a key says how it was, and the method may have been detached since.
  const present = await findMethodOf(stripe, { ...attachment, id: method.id })
  if (present) return present
  throw new ProviderError('rejected', 'detached', 'The provider does not accept this token any more')
}

function customerMissingError(error: unknown): ProviderError {
  const cause = toProviderError(error)
  return new ProviderError('rejected', customerMissing, 'The provider does not know the customer', { cause })
}
