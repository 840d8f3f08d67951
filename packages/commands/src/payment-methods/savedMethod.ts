// Loads saved payment methods and derives their ids.
import { type PaymentMethodEvent, paymentMethodEvents } from '@paylog/domain/payment-methods/events'
import { type PaymentMethodState, paymentMethodFold } from '@paylog/domain/payment-methods/paymentMethod'
import { type ProviderCustomer, providerCustomerFold } from '@paylog/domain/providerCustomer'
import type { Recorded } from '@paylog/event-store/codec/codec'
import type { LoadedState } from '@paylog/event-store/eventStore'
import { paymentMethodStream, providerCustomerStream } from '@paylog/event-store/streamName'
import type { Provider } from '@paylog/providers/provider'
import type { ProviderMethods } from '@paylog/providers/providerMethods'
import { v5 as uuidv5 } from 'uuid'
import { providerFor, type Workflow } from '../context.ts'
import type { ListItem } from '../defaults.ts'

export type SavingProvider = Provider & { readonly methods: ProviderMethods }

/** A method in its owner's list of methods, which has a default. @param owner see `ownerOf` */
export function methodItem(payment_method_id: string, owner: string): ListItem {
  return { list: 'payment_methods', owner, item_id: payment_method_id }
}

/** Must never change: all recorded method ids derive from it. */
const namespace = '0b8e6e34-2f3c-5d52-9a41-6d0f6d1a7c55'

/** Derives our id from the provider's, so that the same method is never recorded twice. */
export function paymentMethodId(provider_id: string, provider_method_id: string): string {
  return uuidv5(JSON.stringify([provider_id, provider_method_id]), namespace)
}

/** @throws DomainError `provider_not_enabled`, listing the enabled providers that can save methods */
export function savingProvider(workflow: Workflow, providerId: string): SavingProvider {
  const savesMethods = (provider: Provider): provider is SavingProvider => provider.methods !== null
  return providerFor(workflow, providerId, 'saved payment methods', savesMethods)
}

export function loadMethod({ store }: Workflow, id: string): Promise<LoadedState<PaymentMethodState>> {
  return store.load(paymentMethodStream(id), paymentMethodFold)
}

/** A user's customer at a provider. */
export function loadCustomer(
  { store }: Workflow,
  provider_id: string,
  user_id: string,
): Promise<LoadedState<ProviderCustomer>> {
  return store.load(providerCustomerStream(provider_id, user_id), providerCustomerFold)
}

/** The method at a revision of its stream. */
export async function methodAt(
  { store }: Workflow,
  id: string,
  revision: bigint,
): Promise<LoadedState<PaymentMethodState>> {
  const events = await store.readStream(paymentMethodStream(id), { limit: Number(revision) + 1 })
  const state = events.filter(isMethodEvent).reduce(paymentMethodFold.evolve, paymentMethodFold.initialState)
  return { state, revision, position: events.at(-1)?.position }
}

export function isMethodEvent(event: Recorded): event is Recorded<PaymentMethodEvent> {
  return Object.hasOwn(paymentMethodEvents, event.type)
}
