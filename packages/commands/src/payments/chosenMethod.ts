// Finds the saved payment method that a payment request names.
import { type Actor, ownerOf, recordedOwner } from '@paylog/domain/actor'
import { DomainError } from '@paylog/domain/errors'
import { recordedId } from '@paylog/domain/fields'
import type { PaymentMethod } from '@paylog/domain/payment-methods/paymentMethod'
import type { Provider } from '@paylog/providers/provider'
import type { Workflow } from '../context.ts'
import { loadMethod } from '../payment-methods/savedMethod.ts'

/**
 * The caller's saved method at the provider. `null` when the request names none, or one of the provider's test methods.
 * @throws DomainError `reference_not_found`, with the same message for an unknown method and for another owner's
 */
export async function chosenMethod(
  workflow: Workflow,
  request: { readonly actor: Actor; readonly provider: Provider; readonly payment_method_id: string | undefined },
): Promise<PaymentMethod | null> {
  const { actor, provider, payment_method_id } = request
  if (payment_method_id === undefined || provider.isTestMethod(payment_method_id)) return null
  const method = await methodOf(workflow, actor, payment_method_id)
  if (method?.status === 'saved' && method.provider_id === provider.id) return method
  throw new DomainError('reference_not_found', 'There is no such payment method', { field: 'payment_method_id' })
}

/**
 * The caller's method, even if removed; `null` if it is unknown or belongs to another owner by now.
 * @param id client input: in any case, and possibly malformed
 */
export async function methodOf(workflow: Workflow, actor: Actor, id: string): Promise<PaymentMethod | null> {
  const recorded = recordedId(id)
  if (actor.kind === 'anonymous' || actor.kind === 'operator' || recorded === null) return null
  const { state } = await loadMethod(workflow, recorded)
  return state.status !== 'none' && recordedOwner(state) === ownerOf(actor) ? state : null
}

/** The method fields that the payment records, so that every create call sends the same ones. */
export function recordedMethodFields({ payment_method_id, provider_method_id, provider_customer_id }: PaymentMethod) {
  return { payment_method_id, provider_method: { provider_method_id, provider_customer_id } }
}
