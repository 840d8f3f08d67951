// Creates a setup intent at a provider and records it. Nothing is recorded before the call: a setup intent that no client
// knows of has no effect.

import { DomainError } from '@paylog/domain/errors'
import type { EventMetadata, LogPosition } from '@paylog/domain/events'
import { requireSameRequest } from '@paylog/domain/idempotentRequest'
import { providerCustomerFold } from '@paylog/domain/providerCustomer'
import { type SetupIntent, setupIntentFold } from '@paylog/domain/setupIntent'
import { type LoadedState, newStream } from '@paylog/event-store/eventStore'
import { providerCustomerStream, setupIntentStream } from '@paylog/event-store/streamName'
import { ProviderError, type ProviderSetupIntent } from '@paylog/providers/provider'
import type { Workflow } from '../context.ts'
import { enabledProvider } from '../payments/providerCall.ts'
import { toDomainError } from '../providerErrors.ts'

export type SetupIntentRequest = {
  readonly setup_intent_id: string
  /** SHA-256 of the request; null without an Idempotency-Key, when no earlier request can exist. */
  readonly request_fingerprint: string | null
  readonly user_id: string
  /** Validates the request and chooses the provider. Not called for a repeated request. */
  readonly providerId: () => string
  readonly metadata: EventMetadata
}

export type CreatedSetupIntent = {
  readonly setup_intent: SetupIntent
  readonly position: LogPosition
  /** True when an earlier request with the same key created it. */
  readonly replayed: boolean
}

/**
 * Creates a setup intent, or finds the one that the same Idempotency-Key created. Concurrent requests make the same provider
 * call with the same key, and only one records the result.
 * @throws DomainError `provider_not_enabled`, `idempotency_key_reused`, `event_store_unavailable`, the codes of
 *   `toDomainError`, and what `providerId` throws
 */
export async function createSetupIntent(workflow: Workflow, request: SetupIntentRequest): Promise<CreatedSetupIntent> {
  const { setup_intent_id, request_fingerprint, user_id, metadata } = request
  const found = await loadRecorded(workflow, request)
  if (found.state !== null) return toCreatedSetupIntent(request, found, { replayed: true })
  const provider = setupIntentProvider(workflow, request.providerId())
  const provider_customer_id = await customerOf(workflow, provider.id, user_id)
  let created: ProviderSetupIntent
  try {
    created = await provider.prepare({ idempotency_key: setup_intent_id, provider_customer_id })
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    // A provider may reject a call while it processes another one with the same key; the other call's result serves both.
    const concurrent = await loadRecorded(workflow, request)
    if (concurrent.state !== null) return toCreatedSetupIntent(request, concurrent, { replayed: true })
    throw toDomainError(error)
  }
  const data = {
    setup_intent_id,
    occurred_at: workflow.now().toISOString(),
    provider_id: provider.id,
    provider_setup_intent_id: created.provider_setup_intent_id,
    client_secret: created.client_secret,
    provider_customer_id,
    user_id,
    request_fingerprint,
  }
  const handled = await workflow.store.handle({
    stream: setupIntentStream(setup_intent_id),
    fold: setupIntentFold,
    decide: (recorded) => (recorded === null ? [{ type: 'SetupIntentCreated', data }] : []),
    metadata,
    known: found,
  })
  return toCreatedSetupIntent(request, handled, { replayed: handled.events.length === 0 })
}

async function loadRecorded(
  { store }: Workflow,
  { setup_intent_id, request_fingerprint }: SetupIntentRequest,
): Promise<LoadedState<SetupIntent | null>> {
  return request_fingerprint === null
    ? newStream(setupIntentFold)
    : store.load(setupIntentStream(setup_intent_id), setupIntentFold)
}

function toCreatedSetupIntent(
  { request_fingerprint }: SetupIntentRequest,
  { state, position }: LoadedState<SetupIntent | null>,
  { replayed }: { readonly replayed: boolean },
): CreatedSetupIntent {
  if (state === null || !position) throw new Error('the setup intent has no event')
  requireSameRequest(state, request_fingerprint)
  return { setup_intent: state, position, replayed }
}

/** The user's customer at the provider. It is optional, so a failed lookup does not fail the request. */
async function customerOf({ store }: Workflow, providerId: string, userId: string): Promise<string | null> {
  try {
    const { state } = await store.load(providerCustomerStream(providerId, userId), providerCustomerFold)
    return state
  } catch {
    return null
  }
}

function setupIntentProvider(workflow: Workflow, providerId: string) {
  const provider = enabledProvider(workflow, providerId)
  const { id, createSetupIntent: prepare } = provider
  if (prepare) return { id, prepare }
  throw new DomainError('provider_not_enabled', `${id} does not support setup intents; choose another provider`, {
    enabled: [...workflow.providers.values()].filter((each) => each.createSetupIntent).map((each) => each.id),
  })
}
