// Requests with an Idempotency-Key to save a method.

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
import { loadMethod, methodAt, paymentMethodId, type SavingProvider, savingProvider } from './savedMethod.ts'

const methodRequests = idempotentRequests<RecordedResponse, MethodRequestEvent>({
  rules: methodRequestRules,
  stream: paymentMethodRequestStream,
  inFlightMs: methodRequestInFlightMs,
})

// Saving a payment method: the provider is asked what a token stands for, and the answer is recorded under an id that
// follows from the provider's own. Whatever dies in between, the same request finishes.

export type SavePaymentMethod = RepeatableRequest & {
  readonly caller: Session | Guest
  /** Chooses the provider for the first request; throws what is wrong with it. A repeated one is judged by its record. */
  readonly providerId: () => string
  /** What the provider's form handed out. It is told to the provider and to nobody else. */
  readonly token: string
  readonly options: MethodOptions
}

export type SaveOutcome =
  | (RecordedMethod & {
      readonly kind: 'saved'
      /** True when an earlier request with the same key was answered with this. */
      readonly replayed: boolean
    })
  | { readonly kind: 'declined'; readonly error: DomainError; readonly replayed: true }

/**
 * Saves the method that a token stands for, finds it saved already, or finds what the same Idempotency-Key was answered.
 * @throws DomainError `provider_not_enabled`, `reference_not_found`, `idempotency_key_reused`,
 *   `idempotency_key_in_flight`, `concurrent_modification`, `event_store_unavailable`, the codes of what a provider did
 *   not do, and what `providerId` throws
 */
export async function savePaymentMethod(workflow: Workflow, request: SavePaymentMethod): Promise<SaveOutcome> {
  const previous = await methodRequests.earlier(workflow, request)
  if (previous !== null) return replayedOutcome(workflow, request, previous.answer)
  const provider = savingProvider(workflow, request.providerId())
  // Some tokens are the provider's id of the method; then it is known whose it is before anybody is asked.
  const known = await loadMethod(workflow, paymentMethodId(provider.id, request.token))
  const isSaved = isSavedByOwner(known.state, ownerOf(request.caller))
  if (!isSaved) await requireAddress(workflow, request)
  const concurrent = await methodRequests.begin(workflow, request, provider.id)
  if (concurrent !== null) return replayedOutcome(workflow, request, concurrent.answer)
  try {
    return isSaved
      ? await recordSaved(workflow, request, await updateSavedMethod(workflow, request, known))
      : await saveNew(workflow, request, provider)
  } catch (error) {
    throw await recordFailure(workflow, request, error)
  }
}

async function saveNew(workflow: Workflow, request: SavePaymentMethod, provider: SavingProvider): Promise<SaveOutcome> {
  const { link, ...kept } = await attachMethod(workflow, provider, request)
  const outcome = await recordSaved(
    workflow,
    request,
    await recordMethod(workflow, request, { provider_id: provider.id, ...kept }),
  )
  await link()
  return outcome
}

async function recordSaved(
  workflow: Workflow,
  request: SavePaymentMethod,
  saved: RecordedMethod,
): Promise<SaveOutcome> {
  const { method, created, revision } = saved
  const { payment_method_id } = method
  await methodRequests.end(workflow, request, { kind: 'saved', payment_method_id, revision: Number(revision), created })
  return { kind: 'saved', replayed: false, ...saved }
}

/** Puts on record that a request came to nothing. @returns what its caller is told */
async function recordFailure(workflow: Workflow, request: SavePaymentMethod, error: unknown): Promise<unknown> {
  // Then nothing can be recorded either, and trying would keep the caller waiting.
  if (error instanceof DomainError && error.code === 'event_store_unavailable') return error
  const isDecline = error instanceof ProviderError && error.kind === 'declined'
  await methodRequests.end(
    workflow,
    request,
    isDecline ? { kind: 'declined', message: error.message } : { kind: 'failed' },
  )
  return error instanceof ProviderError ? toDomainError(error) : error
}

/** The answer that an earlier request got, with the method as it was then. */
async function replayedOutcome(
  workflow: Workflow,
  request: SavePaymentMethod,
  answer: RecordedResponse,
): Promise<SaveOutcome> {
  if (answer.kind === 'declined')
    return { kind: 'declined', error: new DomainError(providerErrorCodes.declined, answer.message), replayed: true }
  const { payment_method_id, revision, created } = answer
  const then = await methodAt(workflow, payment_method_id, BigInt(revision))
  const { provider_id, provider_customer_id } = then.method
  const { caller, metadata } = request
  // The earlier request may have died before this, its last step.
  if (caller.kind === 'session' && provider_customer_id !== null)
    await linkCustomer(workflow, {
      provider_id,
      user_id: caller.user_id,
      customer: { provider_customer_id, generation: 1 },
      metadata,
    })
  return { kind: 'saved', created, replayed: true, ...then }
}

/** @throws DomainError `reference_not_found`, in the same words for what is not there and for what is somebody else's */
async function requireAddress({ store }: Workflow, { caller, options }: SavePaymentMethod): Promise<void> {
  const { billing_address_id } = options
  if (billing_address_id === null) return
  const { state } = await store.load(addressStream(billing_address_id), addressFold)
  if (state.status === 'kept' && recordedOwner(state) === ownerOf(caller)) return
  throw new DomainError('reference_not_found', 'There is no such address', { field: 'billing_address_id' })
}
