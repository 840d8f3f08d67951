// What an erasure does at the providers: deletes a user's customers, and removes the saved methods of a user or a guest.
import { guestOwner, recordedOwner, userOwner } from '@paylog/domain/actor'
import { DomainError, type ErrorCode } from '@paylog/domain/errors'
import type { EventMetadata } from '@paylog/domain/events'
import type { PaymentMethod } from '@paylog/domain/payment-methods/paymentMethod'
import {
  customerDeletionFold,
  type ProviderCustomer,
  type ProviderCustomerEvent,
  providerCustomerFold,
} from '@paylog/domain/providerCustomer'
import { providerNames } from '@paylog/domain/providerEvents'
import { customerDeletionStream, providerCustomerStream } from '@paylog/event-store/streamName'
import { ProviderError } from '@paylog/providers/provider'
import type { Workflow } from './context.ts'
import { removeSavedMethod } from './payment-methods/changeSavedMethod.ts'
import { loadCustomer, loadMethod, savingProvider } from './payment-methods/savedMethod.ts'
import { toDomainError } from './provider-calls/providerErrors.ts'
import { callProvider } from './provider-calls/providerOperation.ts'

/** `payment_method_ids`: the person's saved methods. Other ones are ignored. */
export type PersonAtProviders = ({ readonly user_id: string } | { readonly guest_email: string }) & {
  readonly payment_method_ids: readonly string[]
}

/** What happened to one customer, or to one saved method. */
export type ProviderRemoval = {
  readonly provider_id: string
  /** Null for a method. */
  readonly provider_customer_id: string | null
  /** Null for a customer. */
  readonly payment_method_id: string | null
  /** All but `deleted` should be repeated; `rejected` needs somebody to look at it at the provider. */
  readonly outcome: 'deleted' | 'unknown' | 'unavailable' | 'rejected'
  /** Why it was not deleted. */
  readonly message: string | null
}

/**
 * Removes a person at the providers. What succeeded stays removed, and the whole may be repeated: a customer or method that is
 * gone already counts as deleted.
 * @returns one result for each customer and method; empty when there is nothing to remove
 * @throws DomainError `event_store_unavailable`, `service_unavailable`. Never for a provider's failure
 */
export async function removeAtProviders(
  workflow: Workflow,
  person: PersonAtProviders,
  metadata: EventMetadata,
): Promise<readonly ProviderRemoval[]> {
  const owner = 'user_id' in person ? userOwner(person.user_id) : guestOwner(person.guest_email)
  const methods = await savedMethodsOf(workflow, owner, person.payment_method_ids)
  const removals: ProviderRemoval[] = []
  if ('user_id' in person) {
    // First, so that the notifications about the removed methods count as those of a deleted customer.
    for (const customer of await customersOf(workflow, person.user_id, methods))
      removals.push(await removal(customer, () => deleteCustomer(workflow, customer, metadata)))
  }
  for (const { payment_method_id, provider_id } of methods) {
    const target = {
      id: payment_method_id,
      owner,
      checkRevision: () => undefined,
      checkBody: () => undefined,
      metadata,
    }
    removals.push(await removal({ provider_id, payment_method_id }, () => removeSavedMethod(workflow, target)))
  }
  return removals
}

async function savedMethodsOf(
  workflow: Workflow,
  owner: string,
  ids: readonly string[],
): Promise<readonly PaymentMethod[]> {
  const methods: PaymentMethod[] = []
  for (const id of ids) {
    const { state } = await loadMethod(workflow, id)
    if (state.status === 'saved' && recordedOwner(state) === owner) methods.push(state)
  }
  return methods
}

type Customer = { readonly provider_id: string; readonly user_id: string; readonly provider_customer_id: string }

/** The linked customers, and those that a method names: a crash may have kept its customer from being linked. */
async function customersOf(
  workflow: Workflow,
  user_id: string,
  methods: readonly PaymentMethod[],
): Promise<readonly Customer[]> {
  const customers: Customer[] = []
  // Also providers that are not enabled now: somebody has to delete these customers there.
  for (const provider_id of new Set([...workflow.providers.keys(), ...providerNames])) {
    const { state } = await loadCustomer(workflow, provider_id, user_id)
    const named = methods.flatMap((method) => (method.provider_id === provider_id ? [method.provider_customer_id] : []))
    for (const id of new Set([state.provider_customer_id, ...named]))
      if (id !== null) customers.push({ provider_id, user_id, provider_customer_id: id })
  }
  return customers
}

/**
 * Records that the customer is about to be deleted, deletes it, and records that. An unknown outcome is not recorded: a
 * deletion may be repeated at every provider, so the caller repeats it.
 * @throws DomainError
 */
async function deleteCustomer(workflow: Workflow, customer: Customer, metadata: EventMetadata): Promise<void> {
  const { provider_id, user_id, provider_customer_id } = customer
  const { methods } = savingProvider(workflow, provider_id)
  await workflow.store.handle({
    stream: customerDeletionStream(provider_id, provider_customer_id),
    fold: customerDeletionFold,
    decide: (isRequested) =>
      isRequested
        ? []
        : [{ type: 'ProviderCustomerDeletionRequested', data: { ...customer, occurred_at: now(workflow) } }],
    metadata,
  })
  await callProvider<ProviderCustomer, ProviderCustomerEvent, void>(
    workflow,
    {
      stream: providerCustomerStream(provider_id, user_id),
      fold: providerCustomerFold,
      call: () => methods.deleteCustomer(provider_customer_id),
      done: (_deleted, { state, occurred_at }) =>
        state.provider_customer_id === provider_customer_id
          ? [{ type: 'ProviderCustomerDeleted', data: { ...customer, occurred_at } }]
          : [],
    },
    { assumed: await loadCustomer(workflow, provider_id, user_id), metadata },
  ).catch((error: unknown) => {
    throw error instanceof ProviderError ? toDomainError(error) : error
  })
}

const now = ({ now }: Workflow) => now().toISOString()

/** @throws what does not come from the provider */
async function removal(
  of: Pick<ProviderRemoval, 'provider_id'> & Partial<ProviderRemoval>,
  remove: () => Promise<unknown>,
): Promise<ProviderRemoval> {
  const subject = { provider_customer_id: null, payment_method_id: null, ...of }
  const { provider_id, provider_customer_id, payment_method_id } = subject
  const about = { provider_id, provider_customer_id, payment_method_id }
  try {
    await remove()
    return { ...about, outcome: 'deleted', message: null }
  } catch (error) {
    const outcome = error instanceof DomainError ? failures[error.code] : undefined
    if (!(error instanceof DomainError) || outcome === undefined) throw error
    return { ...about, outcome, message: outcome === 'deleted' ? null : error.message }
  }
}

const failures: Readonly<Partial<Record<ErrorCode, ProviderRemoval['outcome']>>> = {
  // Somebody has removed the method meanwhile.
  not_found: 'deleted',
  provider_outcome_unknown: 'unknown',
  provider_unavailable: 'unavailable',
  provider_not_enabled: 'unavailable',
  concurrent_modification: 'unavailable',
  provider_rejected: 'rejected',
  payment_declined: 'rejected',
  currency_not_supported: 'rejected',
}
