// Removing a saved method: it is detached at the provider first, so that what is gone here can be used nowhere.
import type { EventMetadata } from '@paylog/domain/messages'
import {
  type PaymentMethod,
  paymentMethodFold,
  removePaymentMethod,
} from '@paylog/domain/payment-methods/paymentMethod'
import type { Revision } from '@paylog/event-store/append/appending'
import { paymentMethodStream } from '@paylog/event-store/streamName'
import { ProviderError } from '@paylog/providers/provider'
import type { Workflow } from '../context.ts'
import { toDomainError } from '../providerRefusal.ts'
import { loadOwnedMethod, type StoredMethod, toStoredMethod, ownedMethod } from './ownedMethod.ts'
import { savingProvider } from './savingProvider.ts'

export type RemoveSavedMethod = {
  readonly payment_method_id: string
  /** See `ownerOf`. */
  readonly owner: string
  /** Throws when the owner has not meant to remove the method as it is now. Asked before the provider is. */
  readonly checkRevision: (revision: Revision) => void
  readonly metadata: EventMetadata
}

/**
 * Removes a method. One that somebody else removes at the same time, or the provider reports as detached before this is
 * recorded, is removed.
 * @throws DomainError `not_found`, `provider_not_enabled`, `event_store_unavailable`, the codes of what a provider did not
 *   do, and what `permit` throws; nothing is removed then
 */
export async function removeSavedMethod(workflow: Workflow, request: RemoveSavedMethod): Promise<StoredMethod> {
  const { owner, checkRevision, metadata } = request
  const known = await loadOwnedMethod(workflow, request.payment_method_id, owner)
  checkRevision(known.revision)
  const isDetached = await detach(workflow, known.method)
  const handled = await workflow.store.handle({
    stream: paymentMethodStream(known.method.payment_method_id),
    fold: paymentMethodFold,
    decide(state, revision) {
      if (state.status === 'removed') return []
      const method = ownedMethod(state, owner)
      // What is detached cannot be used any more, whatever else has become of it meanwhile.
      if (!isDetached) checkRevision(revision)
      return removePaymentMethod({ occurred_at: workflow.now().toISOString(), by: 'owner' }, method)
    },
    metadata,
    known,
  })
  return toStoredMethod(handled)
}

/** @returns false for a guest's method, which is attached to nobody */
async function detach(workflow: Workflow, method: PaymentMethod): Promise<boolean> {
  const { provider_id, provider_method_id, provider_customer_id } = method
  if (provider_customer_id === null) return false
  const { methods } = savingProvider(workflow, provider_id)
  try {
    await methods.detachMethod({ provider_method_id, provider_customer_id })
    return true
  } catch (error) {
    throw error instanceof ProviderError ? toDomainError(error) : error
  }
}
