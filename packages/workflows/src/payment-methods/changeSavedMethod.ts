// What an owner changes of a saved method: its alias, and whether it is the default.
import type { EventMetadata } from '@paylog/domain/events'
import {
  changePaymentMethod,
  type PaymentMethod,
  paymentMethodFold,
  removePaymentMethod,
} from '@paylog/domain/payment-methods/paymentMethod'
import type { Revision } from '@paylog/event-store/append/append'
import { paymentMethodStream } from '@paylog/event-store/streamName'
import { ProviderError } from '@paylog/providers/provider'
import type { Workflow } from '../context.ts'
import { toDomainError } from '../providerErrors.ts'
import { chooseDefaultMethod, clearPreviousDefaultMethods } from './defaultChoice.ts'
import { loadOwnedMethod, ownedMethod, type StoredMethod, savingProvider, toStoredMethod } from './savedMethod.ts'

export type ChangeSavedMethod = {
  readonly payment_method_id: string
  /** See `ownerOf`. */
  readonly owner: string
  /** Left out: it stays. */
  readonly alias?: string | null
  readonly is_default?: boolean
  /** Throws when the owner has not meant to change the method as it is now. */
  readonly checkRevision: (revision: Revision) => void
  readonly metadata: EventMetadata
}

/**
 * Changes a method, and has the former default cleared when this one takes its place.
 * @throws DomainError `not_found`, `event_store_unavailable`, and what `permit` throws; nothing is recorded then
 */
export async function changeSavedMethod(workflow: Workflow, request: ChangeSavedMethod): Promise<StoredMethod> {
  const { owner, alias, is_default, checkRevision, metadata } = request
  const known = await loadOwnedMethod(workflow, request.payment_method_id, owner)
  checkRevision(known.revision)
  const { payment_method_id } = known.method
  const choice = { owner, payment_method_id, metadata }
  const default_choice = is_default ? await chooseDefaultMethod(workflow, choice) : null
  const handled = await workflow.store.handle({
    stream: paymentMethodStream(payment_method_id),
    fold: paymentMethodFold,
    decide(state, revision) {
      const method = ownedMethod(state, owner)
      checkRevision(revision)
      const change = {
        occurred_at: workflow.now().toISOString(),
        ...(alias === undefined ? {} : { alias }),
        ...(is_default === undefined ? {} : { default_choice }),
      }
      return changePaymentMethod(change, method)
    },
    metadata,
    known,
  })
  if (is_default) await clearPreviousDefaultMethods(workflow, choice)
  return toStoredMethod(handled)
}

// Removing a saved method: it is detached at the provider first, so that what is gone here can be used nowhere.

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
