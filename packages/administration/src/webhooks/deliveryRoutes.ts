// The deliveries of webhooks: the list, one with its request and every try, and sending it again.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { actorName } from '@paylog/domain/actor'
import { DomainError } from '@paylog/domain/errors'
import { exampleId } from '@paylog/domain/examples'
import { Instant, Nullable, recordedId } from '@paylog/domain/fields'
import { cursorParameter, decodeCursor, encodeCursor, NextCursor } from '@paylog/runtime/http/cursor'
import { audited } from '@paylog/runtime/http/guardRoutes'
import { dataResponse } from '@paylog/runtime/http/openApiSchemas'
import { allowEmptyBody } from '@paylog/runtime/http/optionalBody'
import {
  getDelivery,
  type ListedDelivery,
  listDeliveries,
  listedStatuses,
} from '@paylog/webhooks/deliveries/operations/deliveryList'
import { paymentStreams } from '@paylog/webhooks/deliveries/operations/paymentStreams'
import { findDeliveries, redeliver } from '@paylog/webhooks/deliveries/operations/redelivery'
import type { AttemptMade } from '@paylog/webhooks/deliveries/tables/views'
import { redactedUrl } from '@paylog/webhooks/endpoints/endpointUrl'
import { contentHeaders, messageHeaders } from '@paylog/webhooks/messages/signing'
import { type Static, Type } from 'typebox'
import { administratorSchema, type OperatorDependencies } from '../routeSchemas.ts'
import { timeOf } from '../times.ts'

const deliveryFields = {
  id: Type.String({ format: 'uuid', description: 'The webhook-id header of the request' }),
  endpoint: Type.String({ description: 'The name of the endpoint' }),
  event: Type.String({ description: 'The event name in the request' }),
  mode: Type.Enum(['raw', 'canonical', 'legacy']),
  provider: Type.String(),
  status: Type.Enum([...listedStatuses], {
    description:
      'pending: not sent yet, or retried; held: pending while the endpoint is paused; failed: not retried any more',
  }),
  is_test: Type.Boolean({ description: 'A webhook test or a simulation' }),
  attempts: Type.Integer({ description: 'Attempts that ended' }),
  last_http_status: Nullable(Type.Integer()),
  last_error: Nullable(Type.String({ description: 'Short error code of the last attempt; null after a success' })),
  last_attempt_at: Nullable(Instant),
  next_attempt_at: Nullable(Type.With(Instant, { description: 'Null when no attempt is planned' })),
  created_at: Instant,
  ended_at: Nullable(Type.With(Instant, { description: 'Null while it is pending' })),
  source: Type.Object(
    {
      stream: Type.String(),
      revision: Type.Integer(),
      event_id: Type.String(),
      causation_id: Type.String({ description: 'Id of the event or request that led to the event' }),
      correlation_id: Type.String({ description: 'Id of the request or notification at the start of the chain' }),
    },
    { description: 'The recorded event that it came from' },
  ),
}

const WebhookDelivery = Type.Object(deliveryFields, { title: 'WebhookDelivery' })
type WebhookDelivery = Static<typeof WebhookDelivery>

const DeliveryTry = Type.Object(
  {
    at: Instant,
    ms: Type.Integer({ description: 'How long it took' }),
    http_status: Nullable(Type.Integer({ description: 'Null without a response' })),
    error: Nullable(Type.String({ description: 'Short error code; null for a success' })),
    response: Nullable(
      Type.String({
        description: 'The beginning of the response body, at most 16 KiB, without secrets of the endpoint',
      }),
    ),
  },
  { title: 'WebhookDeliveryTry' },
)

const WebhookDeliveryDetails = Type.Object(
  {
    ...deliveryFields,
    url: Nullable(
      Type.String({ description: 'Without query and possible keys; null when the endpoint is not configured here' }),
    ),
    headers: Type.Record(Type.String(), Type.String(), {
      description:
        'The headers that every attempt has. `webhook-timestamp` and `webhook-signature` are made at each attempt, with the secret of the ' +
        'endpoint, which only the worker has',
    }),
    payload: Nullable(
      Type.String({
        description: 'The exact body of the request, which is signed; null when personal data in it was erased',
      }),
    ),
    tries: Type.Array(DeliveryTry, { description: 'Every attempt that ended, the oldest first' }),
  },
  { title: 'WebhookDeliveryDetails' },
)
export type WebhookDeliveryDetails = Static<typeof WebhookDeliveryDetails>

const example: WebhookDelivery = {
  id: '018f0000-0000-7000-8000-0000000000aa',
  endpoint: '1',
  event: 'payment.succeeded',
  mode: 'canonical',
  provider: 'sandbox',
  status: 'succeeded',
  is_test: false,
  attempts: 1,
  last_http_status: 200,
  last_error: null,
  last_attempt_at: '2026-01-31T12:00:05.100Z',
  next_attempt_at: null,
  created_at: '2026-01-31T12:00:05.000Z',
  ended_at: '2026-01-31T12:00:05.150Z',
  source: {
    stream: `payment-${exampleId}`,
    revision: 2,
    event_id: '018f0000-0000-7000-8000-000000000002',
    causation_id: '018f0000-0000-7000-8000-0000000000bb',
    correlation_id: '018f0000-0000-7000-8000-0000000000bb',
  },
}

const exampleDetails: WebhookDeliveryDetails = {
  ...example,
  url: 'https://shop.example.com/webhooks',
  headers: {
    ...contentHeaders,
    ...messageHeaders({ id: example.id, sequence: 2n }),
  },
  payload: '{"event":"payment.succeeded"}',
  tries: [{ at: '2026-01-31T12:00:05.100Z', ms: 42, http_status: 200, error: null, response: 'ok' }],
}

/** No stored text has a NUL, which Postgres rejects. */
const exactly = (what: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 300, pattern: '^[^\\x00]*$', description: `Only ${what}` }))

const time = (description: string) =>
  Type.Optional(Type.With(Instant, { description: `${description}, with a UTC offset (encode + as %2B)` }))

const ListQuery = Type.Object({
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

const ListResponse = Type.Object(
  {
    success: Type.Literal(true),
    data: Type.Array(WebhookDelivery),
    meta: Type.Object({ limit: Type.Integer(), next_cursor: NextCursor }),
  },
  {
    description: 'A page of deliveries, newest first',
    examples: [{ success: true, data: [example], meta: { limit: 20, next_cursor: null } }],
  },
)

const DeliveryParams = Type.Object({ id: Type.String({ description: 'The id of the delivery' }) })

export const deliveryRoutes =
  (dependencies: OperatorDependencies): FastifyPluginAsyncTypebox =>
  async (http) => {
    http.get('/admin/webhook-deliveries', { config: { right: 'read' }, schema: listSchema }, async ({ query }) => {
      const { data, next } = await deliveriesPage(dependencies, query)
      return { success: true as const, data, meta: { limit: query.limit, next_cursor: next } }
    })

    await http.register(oneDeliveryRoutes(dependencies))
  }

type OneDelivery = Pick<OperatorDependencies, 'pool' | 'endpoints' | 'now'>

/** Without the log, which a command may not have. */
export const oneDeliveryRoutes =
  (dependencies: OneDelivery): FastifyPluginAsyncTypebox =>
  async (http) => {
    const { pool, now } = dependencies
    http.get(
      '/admin/webhook-deliveries/:id',
      { config: { right: 'read' }, schema: getSchema },
      async ({ params: { id } }) => ({
        success: true as const,
        data: await detailsOf(dependencies, id),
      }),
    )

    const again = audited(redeliverSchema, 'redeliver_webhook', async ({ params }) => {
      const id = deliveryId(params.id)
      if ((await findDeliveries(pool, [id])).length === 0) throw unknownDelivery()
      return { target: { kind: 'webhook_delivery', id } }
    })
    http.post(
      '/admin/webhook-deliveries/:id/redeliver',
      { config: { right: 'operate', audited: again }, onRequest: allowEmptyBody, schema: redeliverSchema },
      async ({ params, actor, log }) => {
        const id = deliveryId(params.id)
        const [redelivered] = await redeliver(pool, [id], now())
        if (redelivered === undefined) throw unknownDelivery()
        log.info({ deliveryId: id, node: redelivered.endpoint, requestedBy: actorName(actor) }, 'webhook redelivered')
        return { success: true as const, data: await detailsOf(dependencies, redelivered.id) }
      },
    )
  }

const listSchema = {
  ...administratorSchema('webhooks', 'listWebhookDeliveries', 'List webhook deliveries', 'event_store_unavailable'),
  description: 'For administrators. All deliveries, also those that were not attempted yet.',
  querystring: ListQuery,
  response: { 200: ListResponse },
}

const detailsResponse = (description: string) =>
  dataResponse(WebhookDeliveryDetails, {
    description,
    examples: [exampleDetails],
  })

const getSchema = {
  ...administratorSchema('webhooks', 'getWebhookDelivery', 'Get a webhook delivery', 'not_found'),
  description:
    'For administrators. The request, and every try with its response. The payload may contain personal data, and client secrets in the ' +
    'raw notifications of a provider.',
  params: DeliveryParams,
  response: { 200: detailsResponse('The delivery') },
}

const redeliverSchema = {
  ...administratorSchema('webhooks', 'redeliverWebhook', 'Send a webhook again', 'not_found'),
  description:
    'For administrators. Sends a delivery of any status within seconds, with the same id and body and a new retry schedule. One that is ' +
    'pending is not duplicated: its next attempt comes now. While its endpoint is paused or not configured, it waits.',
  params: DeliveryParams,
  response: { 200: detailsResponse('The delivery, which is pending; it may have been sent already') },
}

/** @throws DomainError `invalid_request` for a wrong cursor; `event_store_unavailable` */
async function deliveriesPage({ pool, store }: OperatorDependencies, query: Static<typeof ListQuery>) {
  const { endpoint, status, event, payment_id, test, created_at_from, created_at_to, limit, cursor } = query
  const bounds = created_at_from || created_at_to ? [created_at_from, created_at_to] : []
  const list = ['webhookDeliveries', endpoint, status, event, payment_id, test, ...bounds]
  const boundOf = (name: 'created_at_from' | 'created_at_to') =>
    query[name] === undefined ? undefined : timeOf('querystring', name, query[name])
  const position = cursor === undefined ? undefined : decodeCursor(list, 'time', cursor)
  const payment = payment_id === undefined ? undefined : recordedId(payment_id)
  if (payment === null) return { data: [], next: null }
  const found = await listDeliveries(pool, {
    ...{ endpoint, status, event },
    isTest: test === undefined ? undefined : test === 'true',
    createdAfter: boundOf('created_at_from'),
    createdBefore: boundOf('created_at_to'),
    streams: payment === undefined ? undefined : await paymentStreams(store, payment),
    after: position && { createdAt: new Date(position.value), id: position.id },
    // One more, to know whether there is another page.
    limit: limit + 1,
  })
  const data = found.slice(0, limit).map(toDelivery)
  const last = found.length > limit ? data.at(-1) : undefined
  return { data, next: encodeCursor(list, last === undefined ? null : { value: last.created_at, id: last.id }) }
}

/** @throws DomainError `not_found` */
async function detailsOf({ pool, endpoints }: OneDelivery, id: string): Promise<WebhookDeliveryDetails> {
  const found = await getDelivery(pool, deliveryId(id))
  if (found === undefined) throw unknownDelivery()
  const endpoint = endpoints.find(({ name }) => name === found.endpoint)
  const { body, attempts_made, ...row } = found
  return {
    ...toDelivery(row),
    url: endpoint === undefined ? null : redactedUrl(endpoint),
    headers: headersOf(found),
    payload: body,
    tries: attempts_made.map(toTry),
  }
}

/** A delivery id as recorded. @throws DomainError `not_found` for a malformed one */
function deliveryId(id: string): string {
  const recorded = recordedId(id)
  if (recorded === null) throw unknownDelivery()
  return recorded
}

const unknownDelivery = () => new DomainError('not_found', 'No webhook delivery with this id')

function headersOf({ id, revision, is_test }: ListedDelivery): Record<string, string> {
  return { ...contentHeaders, ...messageHeaders({ id, sequence: BigInt(revision), isTest: is_test }) }
}

function toTry([at, ms, http_status, error, response]: AttemptMade) {
  return { at: new Date(at).toISOString(), ms, http_status, error, response }
}

function toDelivery(row: ListedDelivery): WebhookDelivery {
  const { stream, revision, event_id, causation_id, correlation_id, user_id: _, ...delivery } = row
  return { ...delivery, source: { stream, revision, event_id, causation_id, correlation_id } }
}
