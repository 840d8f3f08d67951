// Creates a setup intent at a provider and records it. Nothing is recorded before the call: a setup intent that no client
// knows of has no effect.

import { DomainError } from '@paylog/domain/errors'
import type { LogPosition } from '@paylog/domain/events'
import { requireSameRequest } from '@paylog/domain/idempotentRequest'
import { type SetupIntent, type SetupIntentEvent, setupIntentFold } from '@paylog/domain/setupIntent'
import { type LoadedState, newStream } from '@paylog/event-store/eventStore'
import { setupIntentStream } from '@paylog/event-store/streamName'
import { type Provider, ProviderError, type ProviderSetupIntent } from '@paylog/providers/provider'
import { providerFor, type Workflow } from '../context.ts'
import { toDomainError } from '../provider-calls/providerErrors.ts'
import { callProvider, type ProviderOperation } from '../provider-calls/providerOperation.ts'
import type { RepeatableRequest } from '../request/idempotentRequests.ts'
import { loadCustomer } from './savedMethod.ts'

export type CreatedSetupIntent = {
  readonly setup_intent: SetupIntent & { readonly client_secret: string }
  readonly position: LogPosition
  /** True when an earlier request with the same key created it. */
  readonly replayed: boolean
}

/** What an earlier request with the same key recorded. @throws DomainError `event_store_unavailable` */
export function earlierSetupIntent(
  { store }: Workflow,
  { request_id, request_fingerprint }: RepeatableRequest,
): Promise<LoadedState<SetupIntent | null>> {
  if (request_fingerprint === null) return Promise.resolve(newStream(setupIntentFold))
  return store.load(setupIntentStream(request_id), setupIntentFold)
}

/**
 * Creates a setup intent, once for each Idempotency-Key. Concurrent requests make the same provider call with the same key,
 * and only one records the result.
 * @param assumed that there is none yet
 * @throws DomainError `provider_not_enabled`, `idempotency_key_reused`, `event_store_unavailable`, and the codes of
 *   `toDomainError`
 */
export async function createSetupIntent(
  workflow: Workflow,
  request: RepeatableRequest & { readonly user_id: string; readonly provider_id: string },
  assumed: LoadedState<SetupIntent | null>,
): Promise<CreatedSetupIntent> {
  const { request_id: setup_intent_id, request_fingerprint, user_id, metadata } = request
  const provider = providerFor(workflow, request.provider_id, 'setup intents', createsSetupIntents)
  const provider_customer_id = await customerOf(workflow, provider.id, user_id)
  const facts = { setup_intent_id, provider_id: provider.id, provider_customer_id, user_id, request_fingerprint }
  const operation: ProviderOperation<SetupIntent | null, SetupIntentEvent, ProviderSetupIntent> = {
    stream: setupIntentStream(setup_intent_id),
    fold: setupIntentFold,
    call: () => provider.createSetupIntent({ idempotency_key: setup_intent_id, provider_customer_id }),
    done: (created, { state, occurred_at }) =>
      state === null ? [{ type: 'SetupIntentCreated', data: { ...facts, occurred_at, ...created } }] : [],
  }
  try {
    const ended = await callProvider(workflow, operation, { assumed, metadata })
    return toCreatedSetupIntent(request, ended, { replayed: ended.events.length === 0 })
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    // A provider may reject a call while it processes another one with the same key; the other call's result serves both.
    const concurrent = await earlierSetupIntent(workflow, request)
    if (concurrent.state !== null) return toCreatedSetupIntent(request, concurrent)
    throw toDomainError(error)
  }
}

type SetupIntentProvider = Provider & { readonly createSetupIntent: NonNullable<Provider['createSetupIntent']> }

export const createsSetupIntents = (provider: Provider): provider is SetupIntentProvider =>
  provider.createSetupIntent !== null

/** @throws DomainError `idempotency_key_reused`, also when the client secret is no longer kept */
export function toCreatedSetupIntent(
  { request_fingerprint }: RepeatableRequest,
  { state, position }: LoadedState<SetupIntent | null>,
  { replayed } = { replayed: true },
): CreatedSetupIntent {
  if (state === null || !position) throw new Error('the setup intent has no event')
  requireSameRequest(state, request_fingerprint)
  const { client_secret, ...rest } = state
  if (client_secret === null)
    throw new DomainError('idempotency_key_reused', 'The client secret is no longer kept; use a new Idempotency-Key')
  return { setup_intent: { ...rest, client_secret }, position, replayed }
}

/**
 * The user's customer at the provider. It is optional, so that an unreadable event does not fail the request.
 * @throws DomainError `event_store_unavailable`: the same request would find the customer later
 */
async function customerOf(workflow: Workflow, providerId: string, userId: string): Promise<string | null> {
  try {
    return (await loadCustomer(workflow, providerId, userId)).state.provider_customer_id
  } catch (error) {
    if (error instanceof DomainError) throw error
    return null
  }
}
