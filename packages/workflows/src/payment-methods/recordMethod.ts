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
import type { LoadedState } from '@paylog/event-store/eventStore'
import { paymentMethodStream } from '@paylog/event-store/streamName'
import type { ReadMethod } from '@paylog/providers/provider'
import type { Workflow } from '../context.ts'
import { changeSavedMethod } from './changeSavedMethod.ts'
import { chooseDefaultMethod, clearPreviousDefaultMethods, clearSupersededDefaults } from './defaultChoice.ts'
import { loadMethod, paymentMethodId, type StoredMethod, toStoredMethod } from './savedMethod.ts'

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

export type RecordedMethod = StoredMethod & {
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
  await clearSupersededDefaults(workflow, known.state, metadata)
  const choice = { owner, payment_method_id, metadata }
  const default_choice = options.is_default ? await chooseDefaultMethod(workflow, choice) : null
  const handled = await workflow.store.handle({
    stream: paymentMethodStream(payment_method_id),
    fold: paymentMethodFold,
    decide(state) {
      if (isSavedByOwner(state, owner)) return []
      const occurred_at = workflow.now().toISOString()
      return addPaymentMethod(
        { payment_method_id, occurred_at, default_choice, ...methodContent(request, method) },
        state,
      )
    },
    metadata,
    known,
  })
  if (handled.events.length === 0) return updateSavedMethod(workflow, request, handled)
  if (options.is_default) await clearPreviousDefaultMethods(workflow, choice)
  return { ...toStoredMethod(handled), created: true }
}

/**
 * Makes a method that is already saved the default, if the request says so.
 * @throws DomainError `concurrent_modification` when it is removed meanwhile, `event_store_unavailable`
 */
export async function updateSavedMethod(
  workflow: Workflow,
  { caller, options, metadata }: RecordMethod,
  known: LoadedState<PaymentMethodState>,
): Promise<RecordedMethod> {
  const found = toStoredMethod(known)
  if (!options.is_default) return { ...found, created: false }
  const { payment_method_id } = found.method
  const change = {
    payment_method_id,
    owner: ownerOf(caller),
    is_default: true,
    checkRevision: () => undefined,
    metadata,
  }
  try {
    return { ...(await changeSavedMethod(workflow, change)), created: false }
  } catch (error) {
    if (!(error instanceof DomainError && error.code === 'not_found')) throw error
    throw new DomainError('concurrent_modification', 'The method was removed at the same time; try again')
  }
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
