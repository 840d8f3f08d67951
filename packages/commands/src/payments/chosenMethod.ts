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
  const id = recordedId(payment_method_id)
  if (id !== null && actor.kind !== 'anonymous' && actor.kind !== 'operator') {
    const { state } = await loadMethod(workflow, id)
    const isOwn = state.status === 'saved' && recordedOwner(state) === ownerOf(actor)
    if (isOwn && state.provider_id === provider.id) return state
  }
  throw new DomainError('reference_not_found', 'There is no such payment method', { field: 'payment_method_id' })
}
