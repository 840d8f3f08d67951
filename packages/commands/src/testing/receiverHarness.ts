// A provider's receiver under test, over HTTP, with payments to send notifications about.
import { paymentFold } from '@paylog/domain/payments/fold'
import { paymentStream, providerEventStream } from '@paylog/event-store/streamName'
import type { Provider } from '@paylog/providers/provider'
import type { Test } from 'tap'
import { reconcilePayment } from '../payments/reconcilePayment.ts'
import { commandApiHarness } from './commandApiHarness.ts'

export type SignedNotification = { readonly headers: Readonly<Record<string, string>>; readonly body: string }

export type OpenedPayment = { readonly id: string; readonly intent: string; readonly secret: string }

const received = 'ProviderNotificationReceived'

export async function receiverHarness(t: Test, provider: Provider) {
  const api = await commandApiHarness(t, { providers: [provider] })
  const { app, store, workflow } = api
  const origin = await app.listen({ host: '127.0.0.1', port: 0 })
  const typesOf = async (stream: string) => (await store.readStream(stream)).map(({ type }) => type)
  return {
    ...api,
    /** Opens a payment of 25.99. */
    async open(): Promise<OpenedPayment> {
      const payload = { total_cents: 2599, currency: 'USD' }
      const { data } = (await app.inject({ method: 'POST', url: '/payments/intents', payload })).json()
      return { id: data.id, intent: data.provider_intent_id, secret: data.client_secret }
    },
    /** @returns the status and the error code, if any */
    async send({ headers, body }: SignedNotification): Promise<readonly [status: number, code: string | undefined]> {
      const response = await fetch(`${origin}/webhooks/${provider.id}`, { method: 'POST', headers, body })
      const json: unknown = await response.json()
      return [response.status, (json as { error?: { code: string } }).error?.code]
    },
    typesOf,
    /** The event types after the opening of a payment, without the received notifications. */
    historyOf: async (paymentId: string) =>
      (await typesOf(paymentStream(paymentId))).slice(2).filter((type) => type !== received),
    /** The received notifications of a payment with an id. */
    receivedBy: async (paymentId: string, eventId: string) =>
      (await store.readStream(paymentStream(paymentId))).filter(
        ({ type, data }) => type === received && 'provider_event_id' in data && data.provider_event_id === eventId,
      ),
    paymentOf: async (paymentId: string) => (await store.load(paymentStream(paymentId), paymentFold)).state,
    inboxOf: (eventId: string) => store.readStream(providerEventStream(provider.id, eventId)),
    reconcile: (paymentId: string) =>
      reconcilePayment(workflow, paymentId, { correlationId: 'test', causationId: 'test', actor: 'worker' }),
  }
}
