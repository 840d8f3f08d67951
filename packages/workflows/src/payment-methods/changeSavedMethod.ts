// Changes and removes saved payment methods on behalf of their owner.
import type { EventMetadata } from '@paylog/domain/events'
import {
  changeAlias,
  type PaymentMethod,
  paymentMethodFold,
  removePaymentMethod,
} from '@paylog/domain/payment-methods/paymentMethod'
import type { Revision } from '@paylog/event-store/append/append'
import { causedBy } from '@paylog/event-store/eventStore'
import { paymentMethodStream } from '@paylog/event-store/streamName'
import { ProviderError } from '@paylog/providers/provider'
import type { Workflow } from '../context.ts'
import { withDefault } from '../defaults.ts'
import { toDomainError } from '../providerErrors.ts'
import {
  loadOwnedMethod,
  methodItem,
  ownedMethod,
  type ShownMethod,
  type StoredMethod,
  savingProvider,
  toStoredMethod,
} from './savedMethod.ts'

export type ChangeSavedMethod = {
  readonly payment_method_id: string
  /** See `ownerOf`. */
  readonly owner: string
  /** Unchanged if absent. */
  readonly alias?: string | null
  readonly is_default?: boolean
  /** Throws when the request's If-Match does not allow this revision. */
  readonly checkRevision: (revision: Revision) => void
  readonly metadata: EventMetadata
}

export type RemoveSavedMethod = {
  readonly payment_method_id: string
  /** See `ownerOf`. */
  readonly owner: string
  /** Throws when the request's If-Match does not allow this revision. Called before the method is detached. */
  readonly checkRevision: (revision: Revision) => void
  readonly metadata: EventMetadata
}

/**
 * Changes a method's alias, and whether it is the default.
 * @throws DomainError `not_found`, `event_store_unavailable`, and what `checkRevision` throws; nothing is recorded then
 */
export async function changeSavedMethod(workflow: Workflow, request: ChangeSavedMethod): Promise<ShownMethod> {
  const { owner, alias, is_default, checkRevision, metadata } = request
  const known = await loadOwnedMethod(workflow, request.payment_method_id, owner)
  checkRevision(known.revision)
  const { payment_method_id } = known.method
  const changed = await workflow.store.handle({
    stream: paymentMethodStream(payment_method_id),
    fold: paymentMethodFold,
    decide(state, revision) {
      const method = ownedMethod(state, owner)
      checkRevision(revision)
      return alias === undefined ? [] : changeAlias({ occurred_at: workflow.now().toISOString(), alias }, method)
    },
    metadata,
    known,
  })
  const choice = { ...methodItem(payment_method_id, owner), is_default, metadata: causedBy(changed, metadata) }
  return withDefault(workflow, toStoredMethod(changed), choice)
}

/**
 * Removes a method. Detaches it at the provider first, so that a removed method cannot be charged. A concurrent removal
 * counts as success.
 * @throws DomainError `not_found`, `provider_not_enabled`, `event_store_unavailable`, the codes of `toDomainError`, and what
 *   `checkRevision` throws; nothing is removed then
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
      // A detached method is unusable, so a concurrent change no longer matters.
      if (!isDetached) checkRevision(revision)
      return removePaymentMethod({ occurred_at: workflow.now().toISOString(), by: 'owner' }, method)
    },
    metadata,
    known,
  })
  return toStoredMethod(handled)
}

/** @returns false for a guest's method, which is not attached to a customer */
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
