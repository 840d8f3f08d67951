// What a client's token stands for: kept at the provider for a user, only read for a guest.
import type { Guest, Session } from '@paylog/domain/actor'
import type { EventMetadata } from '@paylog/domain/messages'
import { ownerOf } from '@paylog/domain/owner'
import { type AttachedMethod, customerMissing, ProviderError, type ReadMethod } from '@paylog/providers/provider'
import type { Workflow } from '../context.ts'
import {
  type Customer,
  type CustomerContext,
  createNextCustomer,
  findOrCreateCustomer,
  linkCustomer,
} from './providerCustomer.ts'
import type { SavingProvider } from './savingProvider.ts'

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
