// The routes of payment methods as a test sees them.
import { recordedOwner } from '@paylog/domain/owner'
import type { PaymentMethod } from '@paylog/domain/payment-methods/paymentMethod'
import type { PaymentMethodResource } from '@paylog/domain/payment-methods/resource'
import { paymentMethodStream, type StreamName } from '@paylog/event-store/streamName'
import type { Provider } from '@paylog/providers/provider'
import { loadMethod } from '@paylog/workflows/ownedMethod'
import type { Test } from 'tap'
import { commandApiUnderTest } from './commandApiUnderTest.ts'

export const ada = { 'x-session-id': 'demo-session' }
export const adaId = '00000000-0000-4000-8000-000000000001'
export const grace = { 'x-session-id': 'demo-session-2' }
export const guest = { 'x-guest-token': 'demo-guest-token' }
export const guestEmail = 'guest@example.com'

type Headers = Readonly<Record<string, string>>
type Sent = { readonly body?: unknown; readonly headers?: Headers }

let keys = 0
export const freshKey = () => ({ 'idempotency-key': `method-${keys++}` })

export async function methodsUnderTest(t: Test, given?: readonly Provider[]) {
  const parts = await commandApiUnderTest(t, given)
  const { app, store, workflow } = parts

  async function send(method: 'POST' | 'PUT' | 'DELETE', url: string, { body, headers = {} }: Sent) {
    const response = await app.inject({
      method,
      url,
      headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const answer: {
      data?: PaymentMethodResource
      error?: { code: string; message: string; details?: Record<string, unknown> }
    } = response.json()
    const { data, error } = answer
    return {
      status: response.statusCode,
      headers: response.headers,
      text: response.body,
      answer,
      data,
      error,
      code: error?.code,
      id: data?.id ?? '',
      etag: String(response.headers.etag),
      replayed: response.headers['idempotent-replayed'] === 'true',
    }
  }
  const lastPosition = async () => (await store.head())?.commit

  return {
    ...parts,
    save: (body: unknown, headers: Headers = ada) => send('POST', '/payment-methods', { body, headers }),
    change: (id: string, body: unknown, headers: Headers = ada) =>
      send('PUT', `/payment-methods/${id}`, { body, headers }),
    remove: (id: string, headers: Headers = ada) => send('DELETE', `/payment-methods/${id}`, { headers }),
    lastPosition,
    /** Does something after which the log is as long as before. */
    async recordsNothing<Result>(
      t: Test,
      act: () => Promise<Result>,
      message = 'nothing is recorded',
    ): Promise<Result> {
      const before = await lastPosition()
      const result = await act()
      t.equal(await lastPosition(), before, message)
      return result
    },
    typesOf: async (stream: StreamName) => (await store.readStream(stream)).map(({ type }) => type),
    eventsOf: (id: string) => store.readStream(paymentMethodStream(id)),
    /** A method as its own stream tells it. */
    async stateOf(id: string): Promise<PaymentMethod> {
      const { state } = await loadMethod(workflow, id)
      if (state.status === 'none') throw new Error(`There is no method ${id}`)
      return state
    },
    /** Every method of an owner that is the default by what the log says: it says so and has the highest number. */
    async defaultsOf(owner: string): Promise<string[]> {
      const ids = new Set<string>()
      for await (const event of store.readLog({ prefixes: ['paymentMethod-'] }))
        if (event.type === 'PaymentMethodAdded') ids.add(event.data.payment_method_id)
      const states = await Promise.all([...ids].map(async (id) => (await loadMethod(workflow, id)).state))
      const all = states.flatMap((state) => (state.status !== 'none' && recordedOwner(state) === owner ? [state] : []))
      const highest = Math.max(...all.map(({ default_choice }) => default_choice ?? -1))
      return all
        .filter(({ is_default, default_choice }) => is_default && default_choice === highest)
        .map(({ payment_method_id }) => payment_method_id)
    },
    /** Everything that is in the log, as text. */
    async wholeLog(): Promise<string> {
      const events: unknown[] = []
      for await (const { event } of store.client.readAll()) events.push(event?.data, event?.metadata)
      return JSON.stringify(events)
    },
  }
}
