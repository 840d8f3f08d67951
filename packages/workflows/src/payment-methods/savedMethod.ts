// Our id of a method follows from the provider's, so that the same method is never two records.

import { recordedOwner } from '@paylog/domain/actor'
import { DomainError } from '@paylog/domain/errors'
import type { LogPosition } from '@paylog/domain/events'
import { recordedId } from '@paylog/domain/fields'
import { type PaymentMethodEvent, paymentMethodEvents } from '@paylog/domain/payment-methods/events'
import {
  existingMethod,
  type PaymentMethod,
  type PaymentMethodState,
  paymentMethodFold,
} from '@paylog/domain/payment-methods/paymentMethod'
import type { Recorded } from '@paylog/event-store/codec/codec'
import { type LoadedState, newStream } from '@paylog/event-store/eventStore'
import { paymentMethodStream } from '@paylog/event-store/streamName'
import type { ProviderMethods } from '@paylog/providers/provider'
import { v5 as uuidv5 } from 'uuid'
import type { Workflow } from '../context.ts'
import { enabledProvider } from '../payments/providerCall.ts'

/** Names the ids that are derived; a changed value would make every method that is saved a stranger. */
const namespace = '0b8e6e34-2f3c-5d52-9a41-6d0f6d1a7c55'

export function paymentMethodId(provider_id: string, provider_method_id: string): string {
  return uuidv5(JSON.stringify([provider_id, provider_method_id]), namespace)
}

// A provider that can keep payment methods.

export type SavingProvider = { readonly id: string; readonly methods: ProviderMethods }

/** @throws DomainError `provider_not_enabled`, with those that are and can */
export function savingProvider(workflow: Workflow, providerId: string): SavingProvider {
  const { id, methods } = enabledProvider(workflow, providerId)
  if (methods) return { id, methods }
  throw new DomainError('provider_not_enabled', `${id} keeps no payment methods; choose another provider`, {
    enabled: [...workflow.providers.values()].filter((each) => each.methods).map((each) => each.id),
  })
}

// A saved method of a caller's. What is nobody's, somebody else's or removed is not found, in the same words.

/**
 * @param payment_method_id as a client wrote it, in any case; or whatever else it wrote
 * @param owner see `ownerOf`
 * @throws DomainError `not_found`
 */
export async function loadOwnedMethod(
  workflow: Workflow,
  payment_method_id: string,
  owner: string,
): Promise<LoadedState<PaymentMethodState> & { readonly method: PaymentMethod }> {
  const id = recordedId(payment_method_id)
  const loaded = id === null ? newStream(paymentMethodFold) : await loadMethod(workflow, id)
  return { ...loaded, method: ownedMethod(loaded.state, owner) }
}

/** A method and where its stream stands. */
export type StoredMethod = {
  readonly method: PaymentMethod
  readonly revision: bigint
  /** Of its last event. */
  readonly position: LogPosition
}

export function toStoredMethod({ state, revision, position }: LoadedState<PaymentMethodState>): StoredMethod {
  if (state.status === 'none' || revision === 'no_stream' || !position) throw new Error('A method without events')
  return { method: state, revision, position }
}

/** A method as it was at a revision of its stream. */
export async function methodAt({ store }: Workflow, id: string, revision: bigint): Promise<StoredMethod> {
  const events = await store.readStream(paymentMethodStream(id), { limit: Number(revision) + 1 })
  const state = events.filter(isMethodEvent).reduce(paymentMethodFold.evolve, paymentMethodFold.initialState)
  return toStoredMethod({ state, revision, position: events.at(-1)?.position })
}

export function isMethodEvent(event: Recorded): event is Recorded<PaymentMethodEvent> {
  return Object.hasOwn(paymentMethodEvents, event.type)
}

export function loadMethod({ store }: Workflow, id: string): Promise<LoadedState<PaymentMethodState>> {
  return store.load(paymentMethodStream(id), paymentMethodFold)
}

/** @throws DomainError `not_found` */
export function ownedMethod(state: PaymentMethodState, owner: string): PaymentMethod {
  const isOwn = state.status !== 'none' && recordedOwner(state) === owner
  return existingMethod(isOwn ? state : paymentMethodFold.initialState)
}
