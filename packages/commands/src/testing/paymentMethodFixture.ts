// Saved methods in a real event store, recorded without a provider call.
import { randomUUID } from 'node:crypto'
import type { PaymentMethodEvent } from '@paylog/domain/payment-methods/events'
import {
  addPaymentMethod,
  changeAlias,
  type PaymentMethodState,
  paymentMethodFold,
  removePaymentMethod,
} from '@paylog/domain/payment-methods/paymentMethod'
import type { EventStore } from '@paylog/event-store/eventStore'
import { paymentMethodStream } from '@paylog/event-store/streamName'
import { paymentMethodId } from '../payment-methods/savedMethod.ts'
import { visa } from './fakeVault.ts'

export type MethodOwner =
  | { readonly user_id: string; readonly guest_email: null }
  | { readonly user_id: null; readonly guest_email: string }

export type StoredPaymentMethod = {
  readonly id: string
  readonly provider_id: string
  readonly provider_method_id: string
  readonly provider_customer_id: string | null
}

/** @param now the time of the next event */
export function paymentMethodFixture(store: EventStore, now = () => new Date().toISOString()) {
  const decide = (id: string, decision: (state: PaymentMethodState) => PaymentMethodEvent[]) =>
    store.handle({
      stream: paymentMethodStream(id),
      fold: paymentMethodFold,
      decide: decision,
      metadata: { correlationId: 'test', causationId: 'test', actor: 'test' },
    })

  async function add(method: StoredPaymentMethod, owner: MethodOwner, alias = 'Mine'): Promise<void> {
    const { id: payment_method_id, ...ids } = method
    const command = {
      payment_method_id,
      occurred_at: now(),
      ...owner,
      ...ids,
      ...visa,
      type: null,
      alias,
      organization_id: null,
      billing_address_id: null,
      billing_details: null,
    }
    await decide(payment_method_id, (state) => addPaymentMethod(command, state))
  }

  return {
    add,
    /** A user's method belongs to a customer at the provider, a guest's does not. */
    async save(owner: MethodOwner, provider_id: string, alias?: string): Promise<StoredPaymentMethod> {
      const provider_method_id = `pm_${randomUUID()}`
      const method = {
        id: paymentMethodId(provider_id, provider_method_id),
        provider_id,
        provider_method_id,
        provider_customer_id: owner.user_id === null ? null : `cus_${owner.user_id}`,
      }
      await add(method, owner, alias)
      return method
    },
    async rename({ id }: StoredPaymentMethod, alias: string): Promise<void> {
      await decide(id, (state) => changeAlias({ occurred_at: now(), alias }, state))
    },
    async remove({ id }: StoredPaymentMethod): Promise<void> {
      await decide(id, (state) => removePaymentMethod({ occurred_at: now(), by: 'owner' }, state))
    },
  }
}
