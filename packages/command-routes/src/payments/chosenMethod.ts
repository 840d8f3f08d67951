// The saved payment method that a payment is to be made with.
import { type Actor, ownerOf, recordedOwner } from '@paylog/domain/actor'
import { DomainError } from '@paylog/domain/errors'
import { recordedId } from '@paylog/domain/fields'
import type { PaymentMethod } from '@paylog/domain/payment-methods/paymentMethod'
import type { Provider } from '@paylog/providers/provider'
import type { Workflow } from '@paylog/workflows/context'
import { loadMethod } from '@paylog/workflows/payment-methods/savedMethod'

/**
 * The method that a request names: a saved one of the caller's at the provider. `null` when it names none, or one of the
 * provider's own for trying things out.
 * @throws DomainError `reference_not_found`, in the same words for what is not there and for what is somebody else's
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
 * A method of the caller's, also one that was removed; `null` when there is none. A method that somebody else has added
 * since is somebody else's.
 * @param id as a client wrote it, in any case; or whatever else it wrote
 */
export async function methodOf(workflow: Workflow, actor: Actor, id: string): Promise<PaymentMethod | null> {
  const recorded = recordedId(id)
  if (actor.kind === 'anonymous' || recorded === null) return null
  const { state } = await loadMethod(workflow, recorded)
  return state.status !== 'none' && recordedOwner(state) === ownerOf(actor) ? state : null
}

/** What a payment's record says of its method: every create call, also a repeated one, has to say the same. */
export function methodOnRecord({ payment_method_id, provider_method_id, provider_customer_id }: PaymentMethod) {
  return { payment_method_id, provider_method: { provider_method_id, provider_customer_id } }
}
