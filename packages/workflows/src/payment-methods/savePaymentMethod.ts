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
import { processOnce, type RepeatableRequest } from '../idempotentRequests.ts'
import { providerErrorCodes, toDomainError } from '../providerErrors.ts'
import { attachMethod, linkCustomer } from './attachMethod.ts'
import {
  isSavedByOwner,
  type MethodOptions,
  type RecordedMethod,
  recordMethod,
  updateSavedMethod,
} from './recordMethod.ts'
import { loadMethod, methodAt, methodItem, paymentMethodId, savingProvider } from './savedMethod.ts'

const methodRequests = {
  rules: methodRequestRules,
  stream: paymentMethodRequestStream,
  inFlightMs: methodRequestInFlightMs,
}

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
  const { outcome, replayed } = await processOnce<RecordedResponse, MethodRequestEvent, Saved>(
    workflow,
    methodRequests,
    request,
    async () => {
      const provider = savingProvider(workflow, request.providerId())
      // Some tokens are the provider's method id. Then the owner is known without a provider call.
      const known = await loadMethod(workflow, paymentMethodId(provider.id, request.token))
      const isSaved = isSavedByOwner(known.state, ownerOf(request.caller))
      if (!isSaved) await requireAddress(workflow, request)
      return {
        provider_id: provider.id,
        async process(metadata) {
          const caused = { ...request, metadata }
          if (isSaved) return { saved: await updateSavedMethod(workflow, caused, known), link: nothing }
          const { link, ...method } = await attachMethod(workflow, provider, caused)
          return { saved: await recordMethod(workflow, caused, { provider_id: provider.id, ...method }), link }
        },
        responseOf: ({ saved: { method, revision, created, is_default } }) => ({
          kind: 'saved',
          payment_method_id: method.payment_method_id,
          revision: Number(revision),
          created,
          is_default,
        }),
        finalError: (error) =>
          error instanceof ProviderError && error.kind === 'declined'
            ? { kind: 'declined', message: error.message }
            : undefined,
      }
    },
  ).catch((error: unknown) => {
    throw error instanceof ProviderError ? toDomainError(error) : error
  })
  if (replayed) return replayedOutcome(workflow, request, replayed.response)
  await outcome.link()
  return { kind: 'saved', replayed: false, ...outcome.saved }
}

/** `link` records the customer, after the response. */
type Saved = { readonly saved: RecordedMethod; readonly link: () => Promise<void> }

const nothing = async () => undefined

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
