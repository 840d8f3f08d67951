// Records a payment method that the provider has attached, or finds it already saved.
import { type Guest, ownerOf, recordedOwner, type Session } from '@paylog/domain/actor'
import { DomainError } from '@paylog/domain/errors'
import type { EventMetadata } from '@paylog/domain/events'
import type { PaymentMethodAdded } from '@paylog/domain/payment-methods/events'
import {
  addPaymentMethod,
  detailsOf,
  type PaymentMethodState,
  paymentMethodFold,
} from '@paylog/domain/payment-methods/paymentMethod'
import { causedBy, type LoadedState } from '@paylog/event-store/eventStore'
import { paymentMethodStream } from '@paylog/event-store/streamName'
import type { ReadMethod } from '@paylog/providers/provider'
import type { Workflow } from '../context.ts'
import { changeDefault, withDefault } from '../defaults.ts'
import { loadMethod, methodItem, paymentMethodId, type ShownMethod, toStoredMethod } from './savedMethod.ts'

/** The client's input for a method, besides its token. */
export type MethodOptions = Pick<
  PaymentMethodAdded['data'],
  'type' | 'wallet_type' | 'organization_id' | 'alias' | 'billing_address_id' | 'billing_details'
> & { readonly is_default: boolean }

export type RecordMethod = {
  readonly caller: Session | Guest
  readonly options: MethodOptions
  readonly metadata: EventMetadata
}

export type ProviderMethod = ReadMethod & {
  readonly provider_id: string
  readonly provider_customer_id: string | null
}

export type RecordedMethod = ShownMethod & {
  /** False when the caller had already saved it. */
  readonly created: boolean
}

/**
 * Adds a method, or updates it if the owner already saved it.
 * @throws DomainError `reference_not_found` when it belongs to another owner, and what `updateSavedMethod` throws
 */
export async function recordMethod(
  workflow: Workflow,
  request: RecordMethod,
  method: ProviderMethod,
): Promise<RecordedMethod> {
  const { caller, options, metadata } = request
  const owner = ownerOf(caller)
  const payment_method_id = paymentMethodId(method.provider_id, method.provider_method_id)
  const known = await loadMethod(workflow, payment_method_id)
  if (isSavedByOwner(known.state, owner)) return updateSavedMethod(workflow, request, known)
  await endFormerDefault(workflow, known.state, metadata)
  const handled = await workflow.store.handle({
    stream: paymentMethodStream(payment_method_id),
    fold: paymentMethodFold,
    decide(state) {
      if (isSavedByOwner(state, owner)) return []
      const occurred_at = workflow.now().toISOString()
      return addPaymentMethod({ payment_method_id, occurred_at, ...methodContent(request, method) }, state)
    },
    metadata,
    known,
  })
  if (handled.events.length === 0) return updateSavedMethod(workflow, request, handled)
  const added = { ...toStoredMethod(handled), created: true, is_default: false }
  if (!options.is_default) return added
  const choice = { ...methodItem(payment_method_id, owner), is_default: true, metadata: causedBy(handled, metadata) }
  return withDefault(workflow, added, choice)
}

/** A removed method may still be the choice of the list it was in. It must not be the default when it is added again. */
async function endFormerDefault(
  workflow: Workflow,
  method: PaymentMethodState,
  metadata: EventMetadata,
): Promise<void> {
  const owner = method.status === 'removed' ? recordedOwner(method) : null
  if (method.status === 'none' || owner === null) return
  await changeDefault(workflow, { ...methodItem(method.payment_method_id, owner), is_default: false, metadata })
}

/**
 * Makes a method that is already saved the default, if the request asks for it.
 * @throws DomainError `event_store_unavailable`, `concurrent_modification`
 */
export async function updateSavedMethod(
  workflow: Workflow,
  { caller, options, metadata }: RecordMethod,
  known: LoadedState<PaymentMethodState>,
): Promise<RecordedMethod> {
  const saved = { ...toStoredMethod(known), created: false }
  const item = methodItem(saved.method.payment_method_id, ownerOf(caller))
  return withDefault(workflow, saved, { ...item, is_default: options.is_default || undefined, metadata })
}

/**
 * Whether the owner has already saved the method.
 * @throws DomainError `reference_not_found` when it belongs to another owner. A user's method stays reserved after removal:
 *   it is detached at the provider, so anybody who knows its id could otherwise save it and read its details.
 */
export function isSavedByOwner(state: PaymentMethodState, owner: string): boolean {
  if (state.status === 'none') return false
  if (recordedOwner(state) === owner) return state.status === 'saved'
  if (state.status === 'removed' && state.user_id === null) return false
  throw new DomainError('reference_not_found', 'There is no such payment method', { field: 'payment_method_token' })
}

function methodContent({ caller, options }: RecordMethod, method: ProviderMethod) {
  const { is_default: _, ...given } = options
  const { provider_id, provider_method_id, provider_customer_id } = method
  const details = detailsOf(method)
  return {
    user_id: caller.kind === 'session' ? caller.user_id : null,
    guest_email: caller.kind === 'guest' ? caller.guest_email : null,
    provider_id,
    provider_method_id,
    provider_customer_id,
    ...given,
    ...details,
    wallet_type: details.wallet_type ?? given.wallet_type,
  }
}
