// The customer at a provider that stands for a user of ours: made with the first method, and again when it was lost.
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Guest, ownerOf, type Session } from '@paylog/domain/actor'
import type { EventMetadata, Fold } from '@paylog/domain/events'
import type { ProviderCustomerEvent } from '@paylog/domain/providerCustomer'
import { providerCustomerStream } from '@paylog/event-store/streamName'
import { type AttachedMethod, customerMissing, ProviderError, type ReadMethod } from '@paylog/providers/provider'
import type { Workflow } from '../context.ts'
import type { SavingProvider } from './savedMethod.ts'

export type User = { readonly user_id: string; readonly user_email: string | null }

export type CustomerContext = {
  readonly provider: SavingProvider
  readonly user: User
  readonly metadata: EventMetadata
}

export type Customer = {
  /** `null` where it comes into being with its first method. */
  readonly provider_customer_id: string | null
  /** The user's how manieth customer there this is; 0 for none. */
  readonly generation: number
}

/** The pauses before looking whether another request has made the customer: longer in all than making one takes. */
const recheckDelaysMs = [0, 100, 200, 400, 800]

const customerFold: Fold<Customer, ProviderCustomerEvent> = {
  initialState: Object.freeze({ provider_customer_id: null, generation: 0 }),
  evolve: ({ generation }, { data: { provider_customer_id } }) => ({
    provider_customer_id,
    generation: generation + 1,
  }),
}

/** The customer on record, else a new one. @throws ProviderError, DomainError `event_store_unavailable` */
async function findOrCreateCustomer(workflow: Workflow, of: CustomerContext): Promise<Customer> {
  const recorded = await loadCustomer(workflow, of)
  return recorded.generation > 0 ? recorded : createNextCustomer(workflow, of, recorded)
}

/**
 * Makes the next customer. Requests at the same time make the same call with the same key, and get the same customer.
 * @param previous the one that the provider does not know any more, or none
 * @throws ProviderError, DomainError `event_store_unavailable`
 */
async function createNextCustomer(workflow: Workflow, of: CustomerContext, previous: Customer): Promise<Customer> {
  const { provider, user } = of
  const generation = previous.generation + 1
  let provider_customer_id: string | null
  try {
    provider_customer_id = await provider.methods.createCustomer({
      idempotency_key: customerKey(user, generation, workflow.now()),
      user_id: user.user_id,
      email: user.user_email,
      name: null,
    })
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    const recorded = await createdConcurrently(workflow, of, previous, error)
    if (recorded) return recorded
    throw error
  }
  if (provider_customer_id === null) return { provider_customer_id, generation }
  const { user_id } = user
  const customer = { provider_customer_id, generation }
  return linkCustomer(workflow, { provider_id: provider.id, user_id, customer, metadata: of.metadata })
}

/** A provider may refuse one of two equal calls because it is busy with the other, whose answer is as good. */
async function createdConcurrently(
  workflow: Workflow,
  of: CustomerContext,
  previous: Customer,
  { kind }: ProviderError,
): Promise<Customer | undefined> {
  for (const pauseMs of kind === 'unknown' ? recheckDelaysMs : [0]) {
    await sleep(pauseMs)
    const recorded = await loadCustomer(workflow, of)
    if (recorded.generation > previous.generation) return recorded
  }
  return undefined
}

/**
 * Records whom the user is there, unless a customer of this generation is on record.
 * @returns the one on record
 */
export async function linkCustomer(
  { store, now }: Workflow,
  link: {
    readonly provider_id: string
    readonly user_id: string
    readonly customer: Customer & { readonly provider_customer_id: string }
    readonly metadata: EventMetadata
  },
): Promise<Customer> {
  const { provider_id, user_id, customer, metadata } = link
  const { provider_customer_id, generation } = customer
  const { state } = await store.handle({
    stream: providerCustomerStream(provider_id, user_id),
    fold: customerFold,
    decide: (recorded) =>
      recorded.generation >= generation
        ? []
        : [
            {
              type: 'ProviderCustomerLinked',
              data: { provider_id, user_id, provider_customer_id, occurred_at: now().toISOString() },
            },
          ],
    metadata,
  })
  return state
}

async function loadCustomer({ store }: Workflow, { provider, user }: CustomerContext): Promise<Customer> {
  const { state } = await store.load(providerCustomerStream(provider.id, user.user_id), customerFold)
  return state
}

/**
 * Names everything that is sent: the same key with other parameters is refused, and a user may get another e-mail. Good for
 * an hour, because Stripe keeps even a failure of its own under the key for a day, and a customer too many does no harm.
 */
function customerKey({ user_id, user_email }: User, generation: number, now: Date): string {
  const hour = now.toISOString().slice(0, 'YYYY-MM-DDTHH'.length)
  const sent = JSON.stringify([user_id, user_email, generation, hour])
  return `customer-${createHash('sha256').update(sent).digest('hex')}`
}

// What a client's token stands for: kept at the provider for a user, only read for a guest.

export type AttachMethodRequest = {
  /** The call's key: the same one finds what an earlier call with it did. */
  readonly request_id: string
  readonly token: string
  readonly caller: Session | Guest
  readonly metadata: EventMetadata
}

export type ClientMethod = ReadMethod & {
  /** Null for a guest's. */
  readonly provider_customer_id: string | null
  /**
   * Records a customer that came into being with this method. To be done when the method itself is on record: until then
   * a repeated call has to name the same customer as the first one, none.
   */
  readonly link: () => Promise<void>
}

/** @throws ProviderError, DomainError `event_store_unavailable` */
export async function attachMethod(
  workflow: Workflow,
  provider: SavingProvider,
  { request_id, token, caller, metadata }: AttachMethodRequest,
): Promise<ClientMethod> {
  if (caller.kind === 'guest') {
    const read = await provider.methods.readMethod({ token, owner: ownerOf(caller) })
    return { ...read, provider_customer_id: null, link: async () => undefined }
  }
  const of = { provider, user: caller, metadata }
  const attach = ({ provider_customer_id }: Customer) =>
    provider.methods.attachMethod({
      idempotency_key: request_id,
      token,
      user_id: caller.user_id,
      provider_customer_id,
    })
  const { customer, attached } = await attachToCustomer(workflow, of, attach)
  return {
    ...attached,
    async link() {
      if (customer.provider_customer_id !== null) return
      const { provider_customer_id } = attached
      await linkCustomer(workflow, {
        provider_id: provider.id,
        user_id: caller.user_id,
        customer: { ...customer, provider_customer_id },
        metadata,
      })
    },
  }
}

/** The provider may have lost the customer; then the user gets another one, once. */
async function attachToCustomer(
  workflow: Workflow,
  of: CustomerContext,
  attach: (customer: Customer) => Promise<AttachedMethod>,
): Promise<{ readonly customer: Customer; readonly attached: AttachedMethod }> {
  const customer = await findOrCreateCustomer(workflow, of)
  try {
    return { customer, attached: await attach(customer) }
  } catch (error) {
    if (!(error instanceof ProviderError) || error.code !== customerMissing) throw error
    const other = await createNextCustomer(workflow, of, customer)
    return { customer: other, attached: await attach(other) }
  }
}
