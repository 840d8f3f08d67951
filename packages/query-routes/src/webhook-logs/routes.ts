// The query string of GET /webhooks/logs (interface, section 4.11), and the question that it asks.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Actor, Session } from '@paylog/domain/actor'
import { DomainError, type ErrorCode } from '@paylog/domain/errors'
import { exampleLogEntry } from '@paylog/domain/examples'
import { recordedId } from '@paylog/domain/fields'
import { WebhookLogEntry, WebhookLogStatus } from '@paylog/domain/webhookLog'
import {
  getWebhookLog,
  type LoggedWebhook,
  listWebhookLogs,
  type WebhookLogsQuery,
} from '@paylog/projections/webhook-logs/queries'
import { dataResponse, errorResponses, etagHeader, unused } from '@paylog/runtime/http/openApiSchemas'
import type { FastifyReply } from 'fastify'
import { type Static, type TSchema, Type } from 'typebox'
import { positionPattern } from '../readAfter.ts'
import { ItemParams, maxPage, type QueryDependencies } from '../routeSchemas.ts'
import { createConcurrencyLimit } from './concurrencyLimit.ts'

/** A provider's own name of 255 characters, behind the name of the provider. */
const maxNameLength = 300

/** Control characters are in no name, and Postgres refuses one of them. */
const exactMatch = (what: string) =>
  Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: maxNameLength,
      pattern: '^[^\\u0000-\\u001f\\u007f]*$',
      description: `Exactly this ${what}`,
    }),
  )

const ListQuery = Type.Object({
  provider: exactMatch('provider'),
  event_type: exactMatch('name, as it is on the wire'),
  status: Type.Optional(WebhookLogStatus),
  limit: Type.Integer({ minimum: 1, maximum: 1000, default: 100, description: 'How many at most' }),
  offset: Type.Integer({ minimum: 0, maximum: maxPage, default: 0, description: 'How many of the newest are skipped' }),
})

function toWebhookLogsQuery(
  caller: Actor,
  { provider, event_type: event, status, limit, offset }: Static<typeof ListQuery>,
): WebhookLogsQuery {
  return { user_id: userSeenBy(caller), provider, event, status: status ?? 'any', limit, offset }
}

/** @throws DomainError `forbidden` should a route have forgotten its hook: it fails closed */
function sessionOf(caller: Actor): Session {
  if (caller.kind !== 'session') throw new DomainError('forbidden', 'This is for sessions only')
  return caller
}

/** Whose entries a caller sees: the own ones; an administrator all. */
function userSeenBy(caller: Actor): string | undefined {
  const { is_administrator, user_id } = sessionOf(caller)
  return is_administrator ? undefined : user_id
}

// A log entry as JSON. It is not left to the serialiser: a payload that is parsed and written anew would round large
// numbers, and one that is nested deeply enough cannot be written at all, so that it would take the whole list with it.

function entryJson({ payload, ...entry }: LoggedWebhook): string {
  return `${JSON.stringify(entry).slice(0, -1)},"payload":${payload}}`
}

// GET /webhooks/logs and GET /webhooks/logs/{id} (interface, section 4.11): what became of outgoing webhooks.

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
