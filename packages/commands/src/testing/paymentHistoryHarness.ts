// The payment history routes under test, and payments with given events.
import { randomUUID } from 'node:crypto'
import type { PaymentEvent } from '@paylog/domain/payments/events'
import { paymentFold } from '@paylog/domain/payments/fold'
import type { HistoryEntry } from '@paylog/domain/payments/history'
import type { PaymentResource } from '@paylog/domain/payments/resource'
import { paymentStream } from '@paylog/event-store/streamName'
import type { Test } from 'tap'
import { admin, commandApiHarness, type Headers } from './commandApiHarness.ts'

/** Far below the limit of one append. */
const eventsPerAppend = 500

export async function paymentHistoryHarness(t: Test, options: Parameters<typeof commandApiHarness>[1] = {}) {
  const api = await commandApiHarness(t, options)
  const { send, store } = api
  return {
    ...api,
    /** @param query including the question mark */
    payment: (id: string, query = '', headers: Headers = admin) =>
      send<PaymentResource>('GET', `/admin/payments/${id}${query}`, headers),
    history: (id: string, headers: Headers = admin, query = '') =>
      send<HistoryEntry[]>('GET', `/admin/payments/${id}/history${query}`, headers),
    /** Records events under a new payment id. @returns the id, and the events with it */
    async record(template: readonly PaymentEvent[]) {
      const id: string = randomUUID()
      const events = template.map((event) => ({ ...event, data: { ...event.data, payment_id: id } }) as PaymentEvent)
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
