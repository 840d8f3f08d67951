// Saved methods on a real event store, and fake providers that send payment method notifications.
import { randomUUIDv7 } from 'node:crypto'
import { paymentMethodFold } from '@paylog/domain/payment-methods/paymentMethod'
import { paymentMethodStream, providerEventStream, type StreamName } from '@paylog/event-store/streamName'
import type { Provider } from '@paylog/providers/provider'
import type { Test } from 'tap'
import type { Workflow } from '../context.ts'
import { receiveNotification } from '../notifications/notifications.ts'
import { createFakeProvider } from './fakeProvider.ts'
import { visa } from './fakeVault.ts'
import { notificationFixture, unsigned } from './notificationFixture.ts'
import { type MethodOwner, paymentMethodFixture, type StoredPaymentMethod } from './paymentMethodFixture.ts'
import { workflowHarness } from './workflowHarness.ts'

export type SavedFixture = {
  readonly provider: Provider
  readonly object: string
  readonly stored: StoredPaymentMethod
  readonly stream: StreamName
}
export const user: MethodOwner = { user_id: 'user-1', guest_email: null }
export const guest: MethodOwner = { user_id: null, guest_email: 'guest@example.com' }

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

  const methodsAt = (at = workflow.now()) => paymentMethodFixture(store, () => at.toISOString())

  return {
    fake: fake.vault,
    provider,
    unqueryable,
    workflow,
    store,
    keys,
    typesOf,
    add: ({ stored }: SavedFixture, owner: MethodOwner, at?: Date) => methodsAt(at).add(stored, owner),
    async save(on: Provider = provider, owner: MethodOwner = user, at?: Date): Promise<SavedFixture> {
      const stored = await methodsAt(at).save(owner, on.id)
      return { provider: on, object: stored.provider_method_id, stored, stream: paymentMethodStream(stored.id) }
    },
    remove: ({ stored }: SavedFixture) => methodsAt().remove(stored),
    rename: ({ stored }: SavedFixture) => methodsAt().rename(stored, randomUUIDv7()),
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
