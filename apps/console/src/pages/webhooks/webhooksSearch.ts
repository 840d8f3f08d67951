import type { DeliveriesQuery } from '../../api/apiTypes.ts'
import { oneOf, textsOf } from '../../search.ts'

export const deliveryStatuses = ['pending', 'held', 'succeeded', 'failed'] as const
const texts = ['endpoint', 'event', 'payment_id', 'created_at_from', 'created_at_to', 'cursor'] as const

/** The filters of the deliveries in the URL, named as those of GET /admin/webhook-deliveries. */
export const webhooksSearch = (search: Record<string, unknown>) => textsOf(search, [...texts, 'status', 'test'])
export type WebhooksSearch = ReturnType<typeof webhooksSearch>

/** Those of the deliveries of one endpoint, and the period of its figures. */
export const endpointSearch = (search: Record<string, unknown>) => ({
  ...webhooksSearch(search),
  ...textsOf(search, ['days']),
})
export type EndpointSearch = ReturnType<typeof endpointSearch>

/** Unknown words are left out. */
export const deliveriesQuery = (search: WebhooksSearch): DeliveriesQuery => {
  const status = oneOf(deliveryStatuses, search.status)
  const test = oneOf(['true', 'false'], search.test)
  return { ...textsOf(search, texts), ...(status && { status }), ...(test && { test }), limit: 25 }
}
