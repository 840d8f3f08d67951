// Pages of the list of deliveries, and all of it as a file.
import { Instant, recordedId } from '@paylog/domain/fields'
import { cursorParameter, decodeCursor, encodeCursor } from '@paylog/runtime/http/cursor'
import { fileBatchRows, type ListFile } from '@paylog/runtime/http/listFiles'
import {
  countDeliveries,
  type DeliveryListQuery,
  listDeliveries,
  listedStatuses,
} from '@paylog/webhooks/deliveries/operations/deliveryList'
import { paymentStreams } from '@paylog/webhooks/deliveries/operations/paymentStreams'
import type { PoolClient } from 'pg'
import { type Static, Type } from 'typebox'
import type { OperatorDependencies } from '../routeSchemas.ts'
import { timeOf } from '../times.ts'
import { exampleDelivery, toDelivery, WebhookDelivery } from './deliverySchemas.ts'

/** No stored text has a NUL, which Postgres rejects. */
const exactly = (what: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 300, pattern: '^[^\\x00]*$', description: `Only ${what}` }))

const time = (description: string) =>
  Type.Optional(Type.With(Instant, { description: `${description}, with a UTC offset (encode + as %2B)` }))

export const DeliveriesQuery = Type.Object({
  endpoint: exactly('deliveries to this endpoint'),
  status: Type.Optional(Type.Enum([...listedStatuses], { description: 'Only deliveries with this status' })),
  event: exactly('deliveries with this event name, as sent'),
  payment_id: exactly('deliveries of the events of this payment, and of notifications about it'),
  test: Type.Optional(Type.Enum(['true', 'false'], { description: 'Only tests and simulations, or none of them' })),
  created_at_from: time('Only deliveries created after this time'),
  created_at_to: time('Only deliveries created before this time'),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Items per page' }),
  cursor: cursorParameter,
})

type Logged = Pick<OperatorDependencies, 'pool' | 'store'>
type Filters = Omit<Static<typeof DeliveriesQuery>, 'limit' | 'cursor'>

/** @returns undefined for a payment that cannot exist @throws DomainError `invalid_request`, `event_store_unavailable` */
async function criteriaOf(store: OperatorDependencies['store'], query: Filters) {
  const { endpoint, status, event, payment_id, test } = query
  const boundOf = (name: 'created_at_from' | 'created_at_to') =>
    query[name] === undefined ? undefined : timeOf('querystring', name, query[name])
  const created = { createdAfter: boundOf('created_at_from'), createdBefore: boundOf('created_at_to') }
  const payment = payment_id === undefined ? undefined : recordedId(payment_id)
  if (payment === null) return undefined
  const streams = payment === undefined ? undefined : await paymentStreams(store, payment)
  return { endpoint, status, event, streams, ...created, isTest: test === undefined ? undefined : test === 'true' }
}

/** @throws DomainError `invalid_request` for a wrong cursor; `event_store_unavailable` */
export async function deliveriesPage({ pool, store }: Logged, query: Static<typeof DeliveriesQuery>) {
  const { endpoint, status, event, payment_id, test, created_at_from, created_at_to, limit, cursor } = query
  const bounds = created_at_from || created_at_to ? [created_at_from, created_at_to] : []
  const list = ['webhookDeliveries', endpoint, status, event, payment_id, test, ...bounds]
  const position = cursor === undefined ? undefined : decodeCursor(list, 'time', cursor)
  const criteria = await criteriaOf(store, query)
  if (criteria === undefined) return { data: [], next: null }
  const found = await listDeliveries(pool, {
    ...criteria,
    after: position && { createdAt: new Date(position.value), id: position.id },
    // One more, to know whether there is another page.
    limit: limit + 1,
  })
  const data = found.slice(0, limit).map(toDelivery)
  const last = found.length > limit ? data.at(-1) : undefined
  return { data, next: encodeCursor(list, last === undefined ? null : { value: last.created_at, id: last.id }) }
}

/** All deliveries of a request. */
export const deliveriesFile = ({ store }: Logged): ListFile => ({
  name: 'webhook-deliveries',
  item: WebhookDelivery,
  example: exampleDelivery,
  async open({ query }, client) {
    const criteria = await criteriaOf(store, query)
    if (criteria === undefined) return { count: 0, batches: [] }
    return { count: await countDeliveries(client, criteria), batches: allDeliveries(client, criteria) }
  },
})

/** By pages: partitions are sorted one by one, and the order has no index over all. */
async function* allDeliveries(client: PoolClient, criteria: Omit<DeliveryListQuery, 'limit'>) {
  for (let after: DeliveryListQuery['after']; ; ) {
    const found = await listDeliveries(client, { ...criteria, after, limit: fileBatchRows })
    yield found.map(toDelivery)
    const last = found.at(-1)
    if (last === undefined || found.length < fileBatchRows) return
    after = { createdAt: new Date(last.created_at), id: last.id }
  }
}
