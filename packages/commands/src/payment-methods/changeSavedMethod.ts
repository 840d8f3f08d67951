// Changes and removes saved payment methods on behalf of their owner.
import { recordedOwner } from '@paylog/domain/actor'
import { recordedId } from '@paylog/domain/fields'
import type { PaymentMethodEvent } from '@paylog/domain/payment-methods/events'
import {
  changeAlias,
  existingMethod,
  type PaymentMethod,
  type PaymentMethodState,
  paymentMethodFold,
  removePaymentMethod,
} from '@paylog/domain/payment-methods/paymentMethod'
import { causedBy, type LoadedState, newStream } from '@paylog/event-store/eventStore'
import { paymentMethodStream } from '@paylog/event-store/streamName'
import { ProviderError } from '@paylog/providers/provider'
import type { Workflow } from '../context.ts'
import { type ItemTarget, type ShownItem, withDefault } from '../defaults.ts'
import { toDomainError } from '../provider-calls/providerErrors.ts'
import { callProvider } from '../provider-calls/providerOperation.ts'
import { loadMethod, methodItem, savingProvider } from './savedMethod.ts'

export type ChangeSavedMethod = ItemTarget & {
  /** Unchanged if absent. */
  readonly alias?: string | null
  readonly is_default?: boolean
}

/**
 * Changes a method's alias, and whether it is the default.
 * @throws DomainError `not_found`, `event_store_unavailable`, and what `checkRevision` and `checkBody` throw; nothing is
 *   recorded then
 */
export async function changeSavedMethod(
  workflow: Workflow,
  request: ChangeSavedMethod,
): Promise<ShownItem<PaymentMethodState>> {
  const { owner, alias, is_default, checkRevision, metadata } = request
  const assumed = await loadOwnedMethod(workflow, request)
  const { payment_method_id } = assumed.method
  const changed = await workflow.store.handle({
    stream: paymentMethodStream(payment_method_id),
    fold: paymentMethodFold,
    decide(state, revision) {
      const method = ownedMethod(state, owner)
      checkRevision(revision)
      return alias === undefined ? [] : changeAlias({ occurred_at: workflow.now().toISOString(), alias }, method)
    },
    metadata,
    assumed,
  })
  const choice = { ...methodItem(payment_method_id, owner), is_default, metadata: causedBy(changed, metadata) }
  return withDefault(workflow, changed, choice)
}

/**
 * Removes a method. Detaches it at the provider first, so that a removed method cannot be charged. A concurrent removal
 * counts as success. If-Match is checked before the method is detached, because that cannot be undone.
 * @throws DomainError `not_found`, `provider_not_enabled`, `event_store_unavailable`, the codes of `toDomainError`, and what
 *   `checkRevision` and `checkBody` throw; nothing is removed then
 */
export async function removeSavedMethod(
  workflow: Workflow,
  target: ItemTarget,
): Promise<LoadedState<PaymentMethodState>> {
  const { owner, checkRevision, metadata } = target
  const { method, ...assumed } = await loadOwnedMethod(workflow, target)
  const { provider_id, provider_method_id, provider_customer_id } = method
  // A guest's method is not attached to a customer.
  const attached = provider_customer_id === null ? null : { provider_method_id, provider_customer_id }
  const methods = attached && savingProvider(workflow, provider_id).methods
  try {
    return await callProvider<PaymentMethodState, PaymentMethodEvent, unknown>(
      workflow,
      {
        stream: paymentMethodStream(method.payment_method_id),
        fold: paymentMethodFold,
        call: async () => attached && methods?.detachMethod(attached),
        done(_detached, { state, revision, occurred_at }) {
          if (state.status === 'removed') return []
          // A detached method is unusable, so a concurrent change no longer matters.
          if (!attached) checkRevision(revision)
          return removePaymentMethod({ occurred_at, by: 'owner' }, ownedMethod(state, owner))
        },
      },
      { assumed, metadata },
    )
  } catch (error) {
    throw error instanceof ProviderError ? toDomainError(error) : error
  }
}

/**
 * Loads the method that a request changes or removes, and checks the request. A removed method and another owner's are
 * `not_found`, just like an unknown id.
 * @throws DomainError `not_found`, and what `checkRevision` and `checkBody` throw
 */
async function loadOwnedMethod(
  workflow: Workflow,
  { id, owner, checkRevision, checkBody }: ItemTarget,
): Promise<LoadedState<PaymentMethodState> & { readonly method: PaymentMethod }> {
  const recorded = recordedId(id)
  const loaded = recorded === null ? newStream(paymentMethodFold) : await loadMethod(workflow, recorded)
  const method = ownedMethod(loaded.state, owner)
  checkRevision(loaded.revision)
  checkBody()
  return { ...loaded, method }
}

/** @throws DomainError `not_found` */
function ownedMethod(state: PaymentMethodState, owner: string): PaymentMethod {
  const isOwn = state.status !== 'none' && recordedOwner(state) === owner
  return existingMethod(isOwn ? state : paymentMethodFold.initialState)
}
