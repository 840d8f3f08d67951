// Attaches a method to a customer, also when that was done before.
import type Stripe from 'stripe'
import { checked, unreadable } from '../answers.ts'
import { customerMissing, ProviderError } from '../provider.ts'
import { idIn } from './fields.ts'
import { findMethodOf, type PaymentMethod, paymentMethod, type Sought } from './paymentMethod.ts'
import { isInvalidRequest, isMissing, refusalOf } from './refusals.ts'

type Attachment = Sought & { readonly idempotency_key: string }

/** @throws ProviderError; what the `stripe` package throws */
export async function attachMethod(stripe: Stripe, attachment: Attachment): Promise<PaymentMethod> {
  const { id, idempotency_key, provider_customer_id: customer, timeLeft } = attachment
  // A key means the same parameters each time, and the user gets another customer when Stripe has lost the first.
  const options = { ...timeLeft(), idempotencyKey: `${idempotency_key}-${customer}` }
  let answer: Stripe.Response<Stripe.PaymentMethod>
  try {
    answer = await stripe.paymentMethods.attach(id, { customer }, options)
  } catch (refusal) {
    if (isMissing(refusal, 'customer')) throw customerIsMissing(refusal)
    if (!isInvalidRequest(refusal)) throw refusal
    // A setup intent of the same customer has attached its method already, which Stripe refuses to do again.
    return (await findMethodOf(stripe, attachment)) ?? Promise.reject(refusal)
  }
  const method = checked(paymentMethod, answer)
  if (idIn(method.customer) !== customer) throw unreadable('another_customer')
  if (answer.lastResponse.headers['idempotent-replayed'] !== 'true') return method
  // What is kept under a key says how it was, and the method may have been detached since.
  const present = await findMethodOf(stripe, { ...attachment, id: method.id })
  if (present) return present
  throw new ProviderError('rejected', 'detached', 'The provider does not accept this token any more')
}

function customerIsMissing(refusal: unknown): ProviderError {
  const cause = refusalOf(refusal)
  return new ProviderError('rejected', customerMissing, 'The provider does not know the customer', { cause })
}
