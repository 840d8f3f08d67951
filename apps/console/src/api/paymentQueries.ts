// What is known about one payment.
import { queryOptions } from '@tanstack/react-query'
import { reasonHeader } from '../parts/reason.tsx'
import { api, bodyOf, dataOf, exactApi } from './api.ts'
import type { AuditTrailEntry, Delivery, RawEvent } from './apiTypes.ts'
import { pollMs } from './queryClient.ts'

/** Everything about a payment, to be read again after a change. */
export const paymentKey = (id: string) => ['payment', id]

/** The payment with its ETag. @param asOf now when undefined */
export const paymentQuery = (id: string, asOf: string | undefined) =>
  queryOptions({
    queryKey: [...paymentKey(id), 'resource', asOf ?? 'now'],
    queryFn: async ({ signal }) => {
      const query = asOf === undefined ? {} : { as_of: asOf }
      const { body, headers } = await api.getAnyPayment({ path: { id }, query, signal })
      return { payment: body.data, etag: headers.get('etag') }
    },
    refetchInterval: asOf === undefined && pollMs,
    // The slider moves without flicker, but another payment never shows this one.
    placeholderData: (previous, query) => (query?.queryKey[1] === id ? previous : undefined),
  })

export const historyQuery = (id: string) =>
  queryOptions({
    queryKey: [...paymentKey(id), 'history'],
    queryFn: ({ signal }) => dataOf(api.getPaymentHistory({ path: { id }, signal })),
    refetchInterval: pollMs,
  })

const maxPages = 20
const pageSize = 200

/**
 * The recorded events of the payment's stream, the notifications of providers included. Each read is in the audit trail,
 * so nothing repeats it: neither polling nor a change of the payment.
 */
export const eventsQuery = (id: string, reason: string) =>
  queryOptions({
    queryKey: ['recorded-events', id],
    queryFn: async ({ signal }): Promise<RawEvent[]> => {
      const readFrom = (from_revision: number) => {
        const query = { from_revision, limit: pageSize }
        const header = reasonHeader(reason)
        return bodyOf(api.listRecordedEvents({ path: { id }, query, header, signal }))
      }
      const events: RawEvent[] = []
      let from: number | null = 0
      for (let page = 0; from !== null && page < maxPages; page += 1) {
        const { data, meta } = await readFrom(from)
        events.push(...data)
        from = meta.next_revision
      }
      return events
    },
  })

/** What administrators did to the payment: the last hundred entries of the audit trail. */
export const paymentTrailQuery = (id: string) =>
  queryOptions({
    queryKey: [...paymentKey(id), 'audit-trail'],
    queryFn: ({ signal }): Promise<readonly AuditTrailEntry[]> =>
      dataOf(api.listAuditTrail({ query: { target: id, limit: 100 }, signal })),
    refetchInterval: pollMs,
  })

/** While a webhook is being sent. */
const sendingMs = 2_000

/** The webhooks about the payment. */
export const paymentDeliveriesQuery = (id: string) =>
  queryOptions({
    queryKey: [...paymentKey(id), 'deliveries'],
    queryFn: async ({ signal }): Promise<Delivery[]> => {
      const deliveries: Delivery[] = []
      let cursor: string | null | undefined
      for (let page = 0; cursor !== null && page < maxPages; page += 1) {
        const query = { payment_id: id, limit: 100, ...(cursor && { cursor }) }
        const body = await bodyOf(api.listWebhookDeliveries({ query, signal }))
        deliveries.push(...body.data)
        cursor = body.meta.next_cursor
      }
      return deliveries
    },
    refetchInterval: ({ state }) =>
      state.data?.some(({ status, attempts }) => status === 'pending' && attempts === 0) ? sendingMs : pollMs,
  })

/** One webhook with the request and its attempts, exactly: its signature is computed from the body. */
export const deliveryQuery = (id: string) =>
  queryOptions({
    queryKey: ['delivery', id],
    queryFn: ({ signal }) => dataOf(exactApi.getWebhookDelivery({ path: { id }, signal })),
    refetchInterval: pollMs,
  })
