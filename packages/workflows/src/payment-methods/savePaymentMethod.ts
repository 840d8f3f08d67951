// Saves a payment method: attaches the token at the provider and records the method under an id derived from the provider's.
// A repeated request finishes one that crashed half way.

import { type Guest, ownerOf, recordedOwner, type Session } from '@paylog/domain/actor'
import { addressFold } from '@paylog/domain/addresses/address'
import { DomainError } from '@paylog/domain/errors'
import type { MethodRequestEvent } from '@paylog/domain/payment-methods/events'
import {
  methodRequestInFlightMs,
  methodRequestRules,
  type RecordedResponse,
} from '@paylog/domain/payment-methods/paymentMethod'
import { addressStream, paymentMethodRequestStream } from '@paylog/event-store/streamName'
import { ProviderError } from '@paylog/providers/provider'
import type { Workflow } from '../context.ts'
import { withDefault } from '../defaults.ts'
import { idempotentRequests, type RepeatableRequest } from '../idempotentRequests.ts'
import { providerErrorCodes, toDomainError } from '../providerErrors.ts'
import { attachMethod, linkCustomer } from './attachMethod.ts'
import {
  isSavedByOwner,
  type MethodOptions,
  type RecordedMethod,
  recordMethod,
  updateSavedMethod,
} from './recordMethod.ts'
import {
  loadMethod,
  methodAt,
  methodItem,
  paymentMethodId,
  type SavingProvider,
  savingProvider,
} from './savedMethod.ts'

const methodRequests = idempotentRequests<RecordedResponse, MethodRequestEvent>({
  rules: methodRequestRules,
  stream: paymentMethodRequestStream,
  inFlightMs: methodRequestInFlightMs,
})

export type SavePaymentMethod = RepeatableRequest & {
  readonly caller: Session | Guest
  /** Validates the request and chooses the provider. Not called for a repeated request. */
  readonly providerId: () => string
  /** Issued by the provider's form. A secret: sent only to the provider, never recorded or logged. */
  readonly token: string
  readonly options: MethodOptions
}

export type SaveOutcome =
  | (RecordedMethod & {
      readonly kind: 'saved'
      /** True when an earlier request with the same key got this response. */
      readonly replayed: boolean
    })
  | { readonly kind: 'declined'; readonly error: DomainError; readonly replayed: true }

/**
 * Saves a token's method, finds it already saved, or replays the response for the same Idempotency-Key.
 * @throws DomainError `provider_not_enabled`, `reference_not_found`, `idempotency_key_reused`,
 *   `idempotency_key_in_flight`, `concurrent_modification`, `event_store_unavailable`, the codes of `toDomainError`, and
 *   what `providerId` throws
 */
export async function savePaymentMethod(workflow: Workflow, request: SavePaymentMethod): Promise<SaveOutcome> {
  const previous = await methodRequests.earlier(workflow, request)
  if (previous !== null) return replayedOutcome(workflow, request, previous.response)
  const provider = savingProvider(workflow, request.providerId())
  // Some tokens are the provider's method id. Then the owner is known without a provider call.
  const known = await loadMethod(workflow, paymentMethodId(provider.id, request.token))
  const isSaved = isSavedByOwner(known.state, ownerOf(request.caller))
  if (!isSaved) await requireAddress(workflow, request)
  const concurrent = await methodRequests.begin(workflow, request, provider.id)
  if (concurrent !== null) return replayedOutcome(workflow, request, concurrent.response)
  try {
    return isSaved
      ? await recordSaved(workflow, request, await updateSavedMethod(workflow, request, known))
      : await saveNew(workflow, request, provider)
  } catch (error) {
    throw await recordFailure(workflow, request, error)
  }
}

async function saveNew(workflow: Workflow, request: SavePaymentMethod, provider: SavingProvider): Promise<SaveOutcome> {
  const { link, ...method } = await attachMethod(workflow, provider, request)
  const outcome = await recordSaved(
    workflow,
    request,
    await recordMethod(workflow, request, { provider_id: provider.id, ...method }),
  )
  await link()
  return outcome
}

async function recordSaved(
  workflow: Workflow,
  request: SavePaymentMethod,
  saved: RecordedMethod,
): Promise<SaveOutcome> {
  const { method, created, is_default, revision } = saved
  const { payment_method_id } = method
  const response = { kind: 'saved', payment_method_id, revision: Number(revision), created, is_default } as const
  await methodRequests.end(workflow, request, response)
  return { kind: 'saved', replayed: false, ...saved }
}

/** Records that a request failed. @returns the error for the caller */
async function recordFailure(workflow: Workflow, request: SavePaymentMethod, error: unknown): Promise<unknown> {
  // Recording would fail as well, and delay the response.
  if (error instanceof DomainError && error.code === 'event_store_unavailable') return error
  const isDecline = error instanceof ProviderError && error.kind === 'declined'
  await methodRequests.end(
    workflow,
    request,
    isDecline ? { kind: 'declined', message: error.message } : { kind: 'failed' },
  )
  return error instanceof ProviderError ? toDomainError(error) : error
}

/** The response to an earlier request, with the method as it was then. */
async function replayedOutcome(
  workflow: Workflow,
  request: SavePaymentMethod,
  response: RecordedResponse,
): Promise<SaveOutcome> {
  if (response.kind === 'declined')
    return { kind: 'declined', error: new DomainError(providerErrorCodes.declined, response.message), replayed: true }
  const { payment_method_id, revision, created, is_default } = response
  const then = await methodAt(workflow, payment_method_id, BigInt(revision))
  const { provider_id, provider_customer_id } = then.method
  const { caller, metadata } = request
  // The earlier request may have crashed before this last step.
  if (caller.kind === 'session' && provider_customer_id !== null)
    await linkCustomer(workflow, {
      provider_id,
      user_id: caller.user_id,
      customer: { provider_customer_id, generation: 1 },
      metadata,
    })
  const choice = { ...methodItem(payment_method_id, ownerOf(caller)), is_default: undefined, metadata }
  const { position } = is_default ? await withDefault(workflow, then, choice) : then
  return { kind: 'saved', created, replayed: true, ...then, is_default, position }
}

/** @throws DomainError `reference_not_found`, with the same message for an unknown address and for another owner's */
async function requireAddress({ store }: Workflow, { caller, options }: SavePaymentMethod): Promise<void> {
  const { billing_address_id } = options
  if (billing_address_id === null) return
  const { state } = await store.load(addressStream(billing_address_id), addressFold)
  if (state.status === 'kept' && recordedOwner(state) === ownerOf(caller)) return
  throw new DomainError('reference_not_found', 'There is no such address', { field: 'billing_address_id' })
}
