// Saved methods on a real event store, and fake providers that send payment method notifications.
import { randomUUIDv7 } from 'node:crypto'
import type { PaymentMethodEvent } from '@paylog/domain/payment-methods/events'
import {
  type AddPaymentMethod,
  addPaymentMethod,
  changeAlias,
  type PaymentMethodState,
  paymentMethodFold,
  removePaymentMethod,
} from '@paylog/domain/payment-methods/paymentMethod'
import { paymentMethodStream, providerEventStream, type StreamName } from '@paylog/event-store/streamName'
import type { Provider } from '@paylog/providers/provider'
import type { Test } from 'tap'
import type { Workflow } from '../context.ts'
import { receiveNotification } from '../notifications/notifications.ts'
import { paymentMethodId } from '../payment-methods/savedMethod.ts'
import { createFakeProvider } from './fakeProvider.ts'
import { visa } from './fakeVault.ts'
import { notificationFixture, unsigned } from './notificationFixture.ts'
import { metadata, workflowHarness } from './workflowHarness.ts'

export type SavedFixture = {
  readonly provider: Provider
  readonly object: string
  readonly id: string
  readonly stream: StreamName
}
export type Owner = { readonly user_id: string | null; readonly guest_email: string | null }
export const user: Owner = { user_id: 'user-1', guest_email: null }
export const guest: Owner = { user_id: null, guest_email: 'guest@example.com' }

export type SentNotification = { readonly by: Provider; readonly provider_event_id: string; readonly body: Buffer }

export async function methodNotificationHarness(t: Test) {
  const { fake, provider: signing } = createFakeProvider(t, { id: 'queryable' })
  const provider = unsigned(signing)
  const methods = signing.methods && { ...signing.methods, retrieveMethod: null }
  const unqueryable: Provider = { ...provider, id: 'unqueryable', methods }
  t.beforeEach(() => {
    fake.vault.requests.length = 0
    fake.vault.retrieve = async () => visa
  })
  const { workflow, store, keys, providers, typesOf } = await workflowHarness(t, provider)
  providers.set(unqueryable.id, unqueryable)

  const decide = (stream: StreamName, decision: (state: PaymentMethodState) => PaymentMethodEvent[]) =>
    store.handle({
      stream,
      fold: paymentMethodFold,
      decide: decision,
      metadata,
    })

  async function add({ provider, object, id, stream }: SavedFixture, owner: Owner, at = workflow.now()): Promise<void> {
    const command = addCommand({ provider, object, id }, owner, at)
    await decide(stream, (state) => addPaymentMethod(command, state))
  }

  return {
    fake: fake.vault,
    provider,
    unqueryable,
    workflow,
    store,
    keys,
    typesOf,
    add,
    async save(on: Provider = provider, owner: Owner = user, at?: Date): Promise<SavedFixture> {
      const object = `pm_${randomUUIDv7()}`
      const id = paymentMethodId(on.id, object)
      const saved = { provider: on, object, id, stream: paymentMethodStream(id) }
      await add(saved, owner, at)
      return saved
    },
    remove: ({ stream }: SavedFixture) =>
      decide(stream, (state) => removePaymentMethod({ occurred_at: new Date().toISOString(), by: 'owner' }, state)),
    rename: ({ stream }: SavedFixture) =>
      decide(stream, (state) => changeAlias({ occurred_at: new Date().toISOString(), alias: randomUUIDv7() }, state)),
    /** The event types after PaymentMethodAdded. */
    historyOf: async ({ stream }: SavedFixture) => (await typesOf(stream)).slice(1),
    stateOf: async ({ stream }: SavedFixture) => (await store.load(stream, paymentMethodFold)).state,
    receive: ({ by, body }: SentNotification, on: Workflow = workflow) =>
      receiveNotification(on, { provider: by, body, headers: {}, requestId: 'request' }),
  }
}

/** @param what the last part of the generic type: `payment_method.<what>` */
export function methodNotification(
  { provider: by, object }: SavedFixture,
  what: string,
  { at = new Date(), ...more }: { readonly at?: Date; readonly object_id?: null } = {},
): SentNotification {
  const notification = notificationFixture({
    provider_type: `native.${what}`,
    generic_type: `payment_method.${what}`,
    // Whole seconds, like most providers.
    occurred_at: new Date(Math.floor(at.getTime() / 1_000) * 1_000).toISOString(),
    object_id: object,
    ...more,
  })
  const { provider_event_id } = notification
  return { by, provider_event_id, body: Buffer.from(JSON.stringify(notification)) }
}

export const inboxOf = ({ by, provider_event_id }: SentNotification) => providerEventStream(by.id, provider_event_id)

/** A user's method belongs to a customer at the provider, a guest's does not. */
function addCommand({ provider, object, id }: Omit<SavedFixture, 'stream'>, owner: Owner, at: Date): AddPaymentMethod {
  return {
    payment_method_id: id,
    occurred_at: at.toISOString(),
    ...owner,
    provider_id: provider.id,
    provider_method_id: object,
    provider_customer_id: owner.user_id === null ? null : 'cus_1',
    ...visa,
    type: null,
    alias: 'Mine',
    organization_id: null,
    billing_address_id: null,
    billing_details: null,
  }
}
