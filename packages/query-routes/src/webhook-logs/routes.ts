// GET /webhooks/logs and GET /webhooks/logs/{id} (interface, section 4.11): what became of outgoing webhooks.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { DomainError, type ErrorCode } from '@paylog/domain/errors'
import { exampleLogEntry } from '@paylog/domain/examples'
import { recordedId } from '@paylog/domain/fields'
import { WebhookLogEntry } from '@paylog/domain/webhook-logs/resource'
import { getWebhookLog, listWebhookLogs } from '@paylog/projections/webhook-logs/queries'
import { dataResponse, etagHeader, errorResponses, unused } from '@paylog/runtime/http/openApiParts'
import type { FastifyReply } from 'fastify'
import { type TSchema, Type } from 'typebox'
import { positionPattern } from '../readAfter.ts'
import type { QueryDependencies } from '../reading.ts'
import { ItemParams } from '../singles.ts'
import { entryJson } from './entryText.ts'
import { createConcurrencyLimit } from './fewAtOnce.ts'
import { ListQuery, sessionOf, userSeenBy, toWebhookLogsQuery } from './listQuery.ts'

/** Per user. A page may take some MiB, several times over until it is sent. */
const maxConcurrentLists = 2

/** The api sends it with every read, and whoever sends it in another form is told so as everywhere. */
const Headers = Type.Object({
  'x-read-after': Type.Optional(
    // Nothing to wait for: an entry is there once its endpoint was tried, whenever that is.
    Type.String({ pattern: positionPattern, ...unused }),
  ),
})

/** The schema of an answer that the route writes out itself. */
const rawJson = (schema: TSchema) => Type.Unsafe<string>(schema)

const ListResponse = Type.Array(WebhookLogEntry, {
  description:
    'The newest first. A payload above 16 KiB is shown as `{truncated: true, bytes}`, answers and attempts are cut short; ' +
    'with a `limit` above 100 all of them are shorter, in proportion, so that no page is longer',
  examples: [[exampleLogEntry]],
})
const EntryResponse = dataResponse(WebhookLogEntry, {
  description: 'What was asked for',
  headers: etagHeader,
  examples: [{ success: true, data: exampleLogEntry }],
})

export function webhookLogRoutes({ db, session }: QueryDependencies): FastifyPluginAsyncTypebox {
  const described = (...[operationId, summary, ...codes]: [string, string, ...ErrorCode[]]) => ({
    ...errorResponses(codes),
    operationId,
    tags: ['webhooks'],
    summary,
    description: 'About the own payments and tests; administrators see all. Sessions only.',
    headers: Headers,
    security: [{ session: [] }],
  })

  const limitLists = createConcurrencyLimit(maxConcurrentLists)

  return async (http) => {
    http.get(
      '/webhooks/logs',
      {
        onRequest: session,
        schema: {
          ...described('listWebhookLogs', 'List what was sent to webhook endpoints'),
          querystring: ListQuery,
          response: { 200: rawJson(ListResponse) },
        },
      },
      async ({ actor, query }, reply) => {
        const criteria = toWebhookLogsQuery(actor, query)
        const entries = await limitLists(sessionOf(actor).user_id, reply, () => listWebhookLogs(db, criteria))
        return replyWithJson(reply, `[${entries.map(entryJson).join(',')}]`)
      },
    )

    http.get(
      '/webhooks/logs/:id',
      {
        onRequest: session,
        schema: {
          ...described('getWebhookLog', 'Get what was sent to a webhook endpoint, and every attempt', 'not_found'),
          params: ItemParams,
          response: { 200: rawJson(EntryResponse) },
        },
      },
      async ({ actor, params }, reply) => {
        const user_id = userSeenBy(actor)
        const id = recordedId(params.id)
        const found = id === null ? undefined : await getWebhookLog(db, { id, user_id })
        if (found === undefined) throw new DomainError('not_found', 'No webhook log entry with this id')
        reply.header('etag', `"${found.revision}"`)
        return replyWithJson(reply, `{"success":true,"data":${entryJson(found.item)}}`)
      },
    )
  }
}

function replyWithJson(reply: Pick<FastifyReply, 'type'>, json: string): string {
  reply.type('application/json; charset=utf-8')
  return json
}
