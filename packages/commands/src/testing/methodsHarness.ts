// The payment method routes under test.
import { recordedOwner } from '@paylog/domain/actor'
import { defaultChoiceFold } from '@paylog/domain/defaultChoice'
import type { PaymentMethod, PaymentMethodResource } from '@paylog/domain/payment-methods/paymentMethod'
import { defaultChoiceStream, paymentMethodStream, type StreamName } from '@paylog/event-store/streamName'
import type { Provider } from '@paylog/providers/provider'
import type { Test } from 'tap'
import { listId } from '../defaults.ts'
import { loadMethod } from '../payment-methods/savedMethod.ts'
import { ada, commandApiHarness, type Headers } from './commandApiHarness.ts'

export async function methodsHarness(t: Test, given?: readonly Provider[]) {
  const api = await commandApiHarness(t, given && { providers: given })
  const { store, workflow } = api

  async function send(method: 'POST' | 'PUT' | 'DELETE', url: string, headers: Headers, body?: unknown) {
    const sent = await api.send<PaymentMethodResource | undefined>(method, url, headers, body)
    return {
      ...sent,
      code: sent.error?.code,
      id: sent.data?.id ?? '',
      etag: String(sent.headers.etag),
      replayed: sent.headers['idempotent-replayed'] === 'true',
    }
  }

  return {
    ...api,
    save: (body: unknown, headers: Headers = ada) => send('POST', '/payment-methods', headers, body),
    change: (id: string, body: unknown, headers: Headers = ada) => send('PUT', `/payment-methods/${id}`, headers, body),
    remove: (id: string, headers: Headers = ada) => send('DELETE', `/payment-methods/${id}`, headers),
    typesOf: async (stream: StreamName) => (await store.readStream(stream)).map(({ type }) => type),
    eventsOf: (id: string) => store.readStream(paymentMethodStream(id)),
    /** The method folded from its stream. */
    async stateOf(id: string): Promise<PaymentMethod> {
      const { state } = await loadMethod(workflow, id)
      if (state.status === 'none') throw new Error(`no method ${id}`)
      return state
    },
    /** The id of the method that the owner's list shows as the default, or none. */
    async defaultOf(owner: string): Promise<string | undefined> {
      const list = defaultChoiceStream(listId(store, { list: 'payment_methods', owner }))
      const { state: id } = await store.load(list, defaultChoiceFold)
      if (id === null) return undefined
      const { state } = await loadMethod(workflow, id)
      return state.status === 'saved' && recordedOwner(state) === owner ? id : undefined
    },
    /** All events in the log, as text. */
    async wholeLog(): Promise<string> {
      const events: unknown[] = []
      for await (const { event } of store.client.readAll()) events.push(event?.data, event?.metadata)
      return JSON.stringify(events)
    },
  }
}
