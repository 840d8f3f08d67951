// Attaches a client's payment method token to the user's customer at the provider. Creates the customer when needed.
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Guest, hiddenOwner, ownerOf, type Session } from '@paylog/domain/actor'
import type { EventMetadata } from '@paylog/domain/events'
import {
  type ProviderCustomer,
  type ProviderCustomerEvent,
  providerCustomerFold,
} from '@paylog/domain/providerCustomer'
import type { LoadedState } from '@paylog/event-store/eventStore'
import { providerCustomerStream } from '@paylog/event-store/streamName'
import { ProviderError } from '@paylog/providers/provider'
import { customerMissing, type ReadMethod } from '@paylog/providers/providerMethods'
import type { Workflow } from '../context.ts'
import { callProvider, type ProviderOperation } from '../provider-calls/providerOperation.ts'
import { reportedDeletionOf } from './deletedCustomer.ts'
import { loadCustomer, type SavingProvider } from './savedMethod.ts'

type CustomerContext = { readonly provider: SavingProvider; readonly user: Session; readonly metadata: EventMetadata }

export type AttachMethodRequest = {
  /** The idempotency key of the provider call. */
  readonly request_id: string
  readonly token: string
  readonly caller: Session | Guest
  readonly metadata: EventMetadata
}

export type ClientMethod = ReadMethod & {
  /** Null for a guest. */
  readonly provider_customer_id: string | null
  /**
   * Records a customer that the provider created with this method. Call it after the method is recorded: until then a
   * repeated call must send the parameters of the first one, which named no customer.
   */
  readonly link: () => Promise<void>
}

/** Delays before each check whether another request has created the customer; their sum exceeds one creation call. */
const recheckDelaysMs = [0, 100, 200, 400, 800]

/** @throws ProviderError, DomainError `event_store_unavailable` */
export async function attachMethod(
  workflow: Workflow,
  provider: SavingProvider,
  { request_id, token, caller, metadata }: AttachMethodRequest,
): Promise<ClientMethod> {
  if (caller.kind === 'guest') {
    // Method ids may derive from the owner.
    const owner = hiddenOwner(ownerOf(caller), workflow.store.hash)
    const read = await provider.methods.readMethod({ token, owner })
    return { ...read, provider_customer_id: null, link: async () => undefined }
  }
  const of = { provider, user: caller, metadata }
  const attach = ({ provider_customer_id }: ProviderCustomer) =>
    provider.methods.attachMethod({
      idempotency_key: request_id,
      token,
      user_id: caller.user_id,
      provider_customer_id,
    })
  let customer = await customerAfter(workflow, of, 0)
  const attached = await attach(customer).catch(async (error: unknown) => {
    // The provider may have lost the customer; then the user gets another one, once.
    if (!(error instanceof ProviderError) || error.code !== customerMissing) throw error
    customer = await customerAfter(workflow, of, customer.generation)
    return attach(customer)
  })
  return {
    ...attached,
    async link() {
      if (customer.provider_customer_id !== null) return
      const { provider_customer_id } = attached
      const ids = { provider_id: provider.id, user_id: caller.user_id }
      await linkCustomer(workflow, { ...ids, provider_customer_id, generation: customer.generation, metadata })
    },
  }
}

type Link = ProviderCustomer & { readonly provider_id: string; readonly user_id: string }

/** Links the user to a customer, unless one of this generation or a later one is recorded. */
function linked(link: Link, { generation }: ProviderCustomer, occurred_at: string): ProviderCustomerEvent[] {
  const { provider_id, user_id, provider_customer_id } = link
  if (provider_customer_id === null || generation >= link.generation) return []
  return [{ type: 'ProviderCustomerLinked', data: { provider_id, user_id, provider_customer_id, occurred_at } }]
}

/** Records the customer that the provider created together with its first method. */
export async function linkCustomer(
  { store, now }: Workflow,
  link: Link & { readonly metadata: EventMetadata },
): Promise<void> {
  await store.handle({
    stream: providerCustomerStream(link.provider_id, link.user_id),
    fold: providerCustomerFold,
    decide: (state) => linked(link, state, now().toISOString()),
    metadata: link.metadata,
  })
}

/**
 * Finds the customer that follows this generation, or creates it.
 * @throws ProviderError, DomainError `event_store_unavailable`
 */
async function customerAfter(workflow: Workflow, of: CustomerContext, generation: number): Promise<ProviderCustomer> {
  const assumed = await loadCustomer(workflow, of.provider.id, of.user.user_id)
  const { provider_customer_id } = assumed.state
  // Without an id the customer was deleted.
  const isUsable =
    assumed.state.generation > generation &&
    provider_customer_id !== null &&
    (await reportedDeletionOf(workflow, { provider_id: of.provider.id, provider_customer_id })) === null
  return isUsable ? assumed.state : createNextCustomer(workflow, of, assumed)
}

/**
 * Creates the next customer. Concurrent requests send the same idempotency key and get the same customer.
 * @param known the customer that the provider no longer knows, or that was deleted; generation 0 if there was none
 * @throws ProviderError, DomainError `event_store_unavailable`
 */
async function createNextCustomer(
  workflow: Workflow,
  of: CustomerContext,
  assumed: LoadedState<ProviderCustomer>,
): Promise<ProviderCustomer> {
  const { provider, user, metadata } = of
  const { user_id, user_email } = user
  const generation = assumed.state.generation + 1
  const operation: ProviderOperation<ProviderCustomer, ProviderCustomerEvent, string | null> = {
    stream: providerCustomerStream(provider.id, user_id),
    fold: providerCustomerFold,
    call: () =>
      provider.methods.createCustomer({
        idempotency_key: customerKey(user, generation, workflow.now()),
        user_id,
        email: user_email,
        name: null,
      }),
    done: (provider_customer_id, { state, occurred_at }) =>
      linked({ provider_id: provider.id, user_id, provider_customer_id, generation }, state, occurred_at),
  }
  try {
    const { state, result } = await callProvider(workflow, operation, { assumed, metadata })
    return result === null ? { provider_customer_id: null, generation } : state
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    // A provider may reject a call while it processes another one with the same key; the other call's result serves both.
    for (const pauseMs of error.kind === 'unknown' ? recheckDelaysMs : [0]) {
      await sleep(pauseMs)
      const { state } = await loadCustomer(workflow, of.provider.id, of.user.user_id)
      if (state.generation >= generation) return state
    }
    throw error
  }
}

/**
 * Covers all parameters, because providers reject a reused key with other parameters, and a user's e-mail may change. Changes
 * every hour, because Stripe replays even its own failures for a day. A duplicate customer does no harm.
 */
function customerKey({ user_id, user_email }: Session, generation: number, now: Date): string {
  const hour = now.toISOString().slice(0, 'YYYY-MM-DDTHH'.length)
  const parameters = JSON.stringify([user_id, user_email, generation, hour])
  return `customer-${createHash('sha256').update(parameters).digest('hex')}`
}
