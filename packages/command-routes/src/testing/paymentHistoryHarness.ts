// The routes of a payment's history as a test sees them, and payments on the log with whatever past a test gives them.
import { randomUUID } from 'node:crypto'
import type { PaymentEvent } from '@paylog/domain/payments/events'
import type { HistoryEntry } from '@paylog/domain/payments/history'
import { paymentFold } from '@paylog/domain/payments/payment'
import type { PaymentResource } from '@paylog/domain/payments/resource'
import { paymentStream } from '@paylog/event-store/streamName'
import type { Test } from 'tap'
import { admin, commandApiHarness, type Headers } from './commandApiHarness.ts'

/** Far below what one append may hold. */
const eventsPerAppend = 500

export type ReadResponse<Data> = {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
  readonly data: Data
  readonly error: { readonly code: string; readonly message: string; readonly details?: unknown } | undefined
}

export async function paymentHistoryHarness(t: Test, options: Parameters<typeof commandApiHarness>[1] = {}) {
  const parts = await commandApiHarness(t, options)
  const { app, store } = parts

  async function get<Data>(url: string, headers: Headers): Promise<ReadResponse<Data>> {
    const response = await app.inject({ method: 'GET', url, headers })
    const { data, error } = response.json()
    return { status: response.statusCode, headers: response.headers, text: response.body, data, error }
  }

  return {
    ...parts,
    get,
    /** @param query with its question mark, if there is one */
    payment: (id: string, query = '', headers: Headers = admin) =>
      get<PaymentResource>(`/admin/payments/${id}${query}`, headers),
    history: (id: string, headers: Headers = admin, query = '') =>
      get<HistoryEntry[]>(`/admin/payments/${id}/history${query}`, headers),
    /** Records events as those of a new payment. @returns its id, and the events as they are about it */
    async record(told: readonly PaymentEvent[]) {
      const id: string = randomUUID()
      const events = told.map((event) => ({ ...event, data: { ...event.data, payment_id: id } }) as PaymentEvent)
      for (let from = 0; from < events.length; from += eventsPerAppend)
        await store.handle({
          stream: paymentStream(id),
          fold: paymentFold,
          decide: () => events.slice(from, from + eventsPerAppend),
          metadata: { correlationId: 'c-1', causationId: 'k-1', actor: 'provider:sandbox' },
        })
      return { id, events }
    },
  }
}
