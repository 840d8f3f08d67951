// Saves a payment method: attaches the token at the provider and records the method under an id derived from the provider's.
// A repeated request finishes one that crashed half way.

import { type Guest, recordedOwner, type Session } from '@paylog/domain/actor'
import { addressFold } from '@paylog/domain/addresses/address'
import { DomainError } from '@paylog/domain/errors'
import type { PaymentMethodAdded } from '@paylog/domain/payment-methods/events'
import {
  addPaymentMethod,
  detailsOf,
  existingMethod,
  type PaymentMethodState,
  paymentMethodFold,
} from '@paylog/domain/payment-methods/paymentMethod'
import { causedBy, type LoadedState } from '@paylog/event-store/eventStore'
import { addressStream, paymentMethodStream } from '@paylog/event-store/streamName'
import { ProviderError } from '@paylog/providers/provider'
import type { Workflow } from '../context.ts'
import { changeDefault, type ShownItem, withDefault } from '../defaults.ts'
import { providerErrorCodes, toDomainError } from '../provider-calls/providerErrors.ts'
import {
  type EarlierRequest,
  type OwnedRequest,
  processOnce,
  type RecordedResponse,
  type RequestWork,
} from '../request/idempotentRequests.ts'
import { attachMethod, type ClientMethod, linkCustomer } from './attachMethod.ts'
import { requireCustomer } from './deletedCustomer.ts'
import { loadMethod, methodAt, methodItem, paymentMethodId, savingProvider } from './savedMethod.ts'

/** The client's input for a method, besides its token. */
export type MethodOptions = Pick<
  PaymentMethodAdded['data'],
  'type' | 'wallet_type' | 'organization_id' | 'alias' | 'billing_address_id' | 'billing_details'
> & { readonly is_default: boolean }

export type SavePaymentMethod = OwnedRequest & {
  readonly caller: Session | Guest
  readonly provider_id: string
  /** Issued by the provider's form. A secret: sent only to the provider, never recorded or logged. */
  readonly token: string
  readonly options: MethodOptions
}

/** `created` is false when the caller had already saved it. */
type SavedMethod = ShownItem<PaymentMethodState> & { readonly created: boolean }

export type SaveOutcome =
  | (SavedMethod & {
      readonly kind: 'saved'
      /** True when an earlier request with the same key got this response. */
      readonly replayed: boolean
    })
  | { readonly kind: 'declined'; readonly error: DomainError; readonly replayed: true }

/**
 * Saves a token's method, or finds it already saved, once for each Idempotency-Key.
 * @param earlier without a response
 * @throws DomainError `provider_not_enabled`, `reference_not_found`, `idempotency_key_reused`,
 *   `idempotency_key_in_flight`, `concurrent_modification`, `event_store_unavailable`, and the codes of `toDomainError`
 */
export async function savePaymentMethod(
  workflow: Workflow,
  request: SavePaymentMethod,
  earlier: EarlierRequest,
): Promise<SaveOutcome> {
  const provider = savingProvider(workflow, request.provider_id)
  // Some tokens are the provider's method id. Then the owner is known without a provider call.
  const assumed = await loadMethod(workflow, paymentMethodId(provider.id, request.token))
  const isSaved = isSavedByOwner(assumed.state, request.owner)
  if (!isSaved) await requireAddress(workflow, request)
  const work: RequestWork<Saved> = {
    provider_id: provider.id,
    async process(metadata) {
      const caused = { ...request, metadata }
      if (isSaved) return { saved: await alreadySaved(workflow, caused, assumed), link: async () => undefined }
      const since = workflow.now().toISOString()
      const { link, ...attached } = await attachMethod(workflow, provider, caused)
      const method = { provider_id: provider.id, ...attached }
      const saved = await recordMethod(workflow, caused, method)
      await requireCustomer(workflow, method, since, metadata)
      return { saved, link }
    },
    responseOf: ({ saved: { state, revision, created, is_default } }) => ({
      kind: 'saved',
      payment_method_id: existingMethod(state).payment_method_id,
      revision: Number(revision),
      created,
      is_default,
    }),
    finalError: (error) =>
      error instanceof ProviderError && error.kind === 'declined'
        ? { kind: 'declined', message: error.message }
        : undefined,
  }
  const processed = await processOnce(workflow, request, earlier, work).catch((error: unknown) => {
    throw error instanceof ProviderError ? toDomainError(error) : error
  })
  if ('recorded' in processed) return replaySaved(workflow, request, processed.recorded)
  const { saved, link } = processed.outcome
  await link()
  return { kind: 'saved', replayed: false, ...saved }
}

/** `link` records the customer, after the response. */
type Saved = { readonly saved: SavedMethod; readonly link: () => Promise<void> }

/** The response to an earlier request, with the method as it was then. */
export async function replaySaved(
  workflow: Workflow,
  { caller, owner, metadata }: Pick<SavePaymentMethod, 'caller' | 'owner' | 'metadata'>,
  { response }: RecordedResponse,
): Promise<SaveOutcome> {
  if (response.kind === 'declined')
    return { kind: 'declined', error: new DomainError(providerErrorCodes.declined, response.message), replayed: true }
  if (response.kind !== 'saved') throw new Error('the response is not a saved method')
  const { payment_method_id, revision, created, is_default } = response
  const then = await methodAt(workflow, payment_method_id, BigInt(revision))
  const { provider_id, provider_customer_id } = existingMethod(then.state)
  // The earlier request may have crashed before this last step.
  if (caller.kind === 'session' && provider_customer_id !== null)
    await linkCustomer(workflow, {
      provider_id,
      user_id: caller.user_id,
      provider_customer_id,
      generation: 1,
      metadata,
    })
  const choice = { ...methodItem(payment_method_id, owner), is_default: undefined, metadata }
  const { position } = is_default ? await withDefault(workflow, then, choice) : then
  return { kind: 'saved', created, replayed: true, ...then, is_default, position }
}

/** @throws DomainError `reference_not_found`, with the same message for an unknown address and for another owner's */
async function requireAddress({ store }: Workflow, { owner, options }: SavePaymentMethod): Promise<void> {
  const { billing_address_id } = options
  if (billing_address_id === null) return
  const { state } = await store.load(addressStream(billing_address_id), addressFold)
  if (state.status === 'kept' && recordedOwner(state) === owner) return
  throw new DomainError('reference_not_found', 'There is no such address', { field: 'billing_address_id' })
}

type ProviderMethod = Omit<ClientMethod, 'link'> & { readonly provider_id: string }

/**
 * Adds a method, or updates it if the owner already saved it.
 * @throws DomainError `reference_not_found` when it belongs to another owner, and what `alreadySaved` throws
 */
async function recordMethod(
  workflow: Workflow,
  request: SavePaymentMethod,
  method: ProviderMethod,
): Promise<SavedMethod> {
  const { caller, owner, metadata } = request
  const { is_default, ...options } = request.options
  const payment_method_id = paymentMethodId(method.provider_id, method.provider_method_id)
  const assumed = await loadMethod(workflow, payment_method_id)
  if (isSavedByOwner(assumed.state, owner)) return alreadySaved(workflow, request, assumed)
  // A removed method may still be the choice of the list it was in. It must not be the default when it is added again.
  const former = assumed.state.status === 'removed' ? recordedOwner(assumed.state) : null
  if (former !== null)
    await changeDefault(workflow, { ...methodItem(payment_method_id, former), is_default: false, metadata })
  const { provider_id, provider_method_id, provider_customer_id } = method
  const content = {
    user_id: caller.kind === 'session' ? caller.user_id : null,
    guest_email: caller.kind === 'guest' ? caller.guest_email : null,
    provider_id,
    provider_method_id,
    provider_customer_id,
    ...options,
    ...detailsOf(method),
    wallet_type: method.wallet_type ?? options.wallet_type,
  }
  const handled = await workflow.store.handle({
    stream: paymentMethodStream(payment_method_id),
    fold: paymentMethodFold,
    decide(state) {
      if (isSavedByOwner(state, owner)) return []
      return addPaymentMethod({ payment_method_id, occurred_at: workflow.now().toISOString(), ...content }, state)
    },
    metadata,
    assumed,
  })
  if (handled.events.length === 0) return alreadySaved(workflow, request, handled)
  const added = { ...handled, created: true, is_default: false }
  if (!is_default) return added
  const choice = { ...methodItem(payment_method_id, owner), is_default, metadata: causedBy(handled, metadata) }
  return withDefault(workflow, added, choice)
}

/**
 * Makes a method that is already saved the default, if the request asks for it.
 * @throws DomainError `event_store_unavailable`, `concurrent_modification`
 */
async function alreadySaved(
  workflow: Workflow,
  { owner, options, metadata }: SavePaymentMethod,
  assumed: LoadedState<PaymentMethodState>,
): Promise<SavedMethod> {
  const item = methodItem(existingMethod(assumed.state).payment_method_id, owner)
  const choice = { ...item, is_default: options.is_default || undefined, metadata }
  return withDefault(workflow, { ...assumed, created: false }, choice)
}

/**
 * Whether the owner has already saved the method.
 * @throws DomainError `reference_not_found` when it belongs to another owner. A user's method stays reserved after removal:
 *   it is detached at the provider, so anybody who knows its id could otherwise save it and read its details.
 */
function isSavedByOwner(state: PaymentMethodState, owner: string): boolean {
  if (state.status === 'none') return false
  if (recordedOwner(state) === owner) return state.status === 'saved'
  if (state.status === 'removed' && state.user_id === null) return false
  throw new DomainError('reference_not_found', 'There is no such payment method', { field: 'payment_method_token' })
}
