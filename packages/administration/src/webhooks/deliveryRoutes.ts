// The deliveries of webhooks: the list, one with its request and every try, and sending it again.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { actorName } from '@paylog/domain/actor'
import { DomainError } from '@paylog/domain/errors'
import { recordedId } from '@paylog/domain/fields'
import { NextCursor } from '@paylog/runtime/http/cursor'
import { audited } from '@paylog/runtime/http/guardRoutes'
import { dataResponse } from '@paylog/runtime/http/openApiSchemas'
import { allowEmptyBody } from '@paylog/runtime/http/optionalBody'
import { getDelivery, type ListedDelivery } from '@paylog/webhooks/deliveries/operations/deliveryList'
import { findDeliveries, redeliver } from '@paylog/webhooks/deliveries/operations/redelivery'
import type { AttemptMade } from '@paylog/webhooks/deliveries/tables/views'
import { redactedUrl } from '@paylog/webhooks/endpoints/endpointUrl'
import { contentHeaders, messageHeaders } from '@paylog/webhooks/messages/signing'
import { Type } from 'typebox'
import { administratorSchema, type OperatorDependencies } from '../routeSchemas.ts'
import { DeliveriesQuery, deliveriesFile, deliveriesPage } from './deliveryPages.ts'
import {
  exampleDelivery,
  exampleDetails,
  toDelivery,
  WebhookDelivery,
  WebhookDeliveryDetails,
} from './deliverySchemas.ts'

const ListResponse = Type.Object(
  {
    success: Type.Literal(true),
    data: Type.Array(WebhookDelivery),
    meta: Type.Object({ limit: Type.Integer(), next_cursor: NextCursor }),
  },
  {
    description: 'A page of deliveries, newest first',
    examples: [{ success: true, data: [exampleDelivery], meta: { limit: 20, next_cursor: null } }],
  },
)

const DeliveryParams = Type.Object({ id: Type.String({ description: 'The id of the delivery' }) })

export const deliveryRoutes =
  (dependencies: OperatorDependencies): FastifyPluginAsyncTypebox =>
  async (http) => {
    const config = { right: 'read', file: deliveriesFile(dependencies) } as const
    http.get('/admin/webhook-deliveries', { config, schema: listSchema }, async ({ query }) => {
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
  querystring: DeliveriesQuery,
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
