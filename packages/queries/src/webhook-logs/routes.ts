// GET /webhooks/logs and GET /webhooks/logs/{id} (interface, section 4.11): the log of outgoing webhooks.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Actor, hasRight, type Session } from '@paylog/domain/actor'
import { DomainError, type ErrorCode } from '@paylog/domain/errors'
import { exampleLogEntry } from '@paylog/domain/examples'
import { recordedId } from '@paylog/domain/fields'
import { WebhookLogEntry, WebhookLogStatus } from '@paylog/domain/webhookLog'
import { notOwned } from '@paylog/runtime/http/callers'
import { dataResponse, errorResponses, etagHeader, unused } from '@paylog/runtime/http/openApiSchemas'
import { createConcurrencyLimit } from '@paylog/runtime/limits/concurrencyLimit'
import type { FastifyReply } from 'fastify'
import { type Static, type TSchema, Type } from 'typebox'
import { maxPage } from '../lists/listRoutes.ts'
import { positionPattern } from '../readAfter.ts'
import { ItemParams, type QueryDependencies } from '../routeSchemas.ts'
import { getWebhookLog, type LoggedWebhook, listWebhookLogs, type WebhookLogsQuery } from './queries.ts'

/** A provider's event name of up to 255 characters, prefixed with the provider. */
const maxNameLength = 300

/** No name contains control characters, and Postgres rejects NUL. */
const exactMatch = (what: string) =>
  Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: maxNameLength,
      pattern: '^[^\\x00-\\x1f\\x7f]*$',
      description: `Only entries with this ${what}`,
    }),
  )

const ListQuery = Type.Object({
  provider: exactMatch('provider'),
  event_type: exactMatch('event name, as sent'),
  status: Type.Optional(WebhookLogStatus),
  limit: Type.Integer({ minimum: 1, maximum: 1000, default: 100, description: 'Maximum number of entries' }),
  offset: Type.Integer({ minimum: 0, maximum: maxPage, default: 0, description: 'Entries to skip, from the newest' }),
})

/** Clients send it with every read; its format is validated as everywhere. */
const Headers = Type.Object({
  'x-read-after': Type.Optional(
    // Ignored: an entry appears with its first attempt, at any later time.
    Type.String({ pattern: positionPattern, ...unused }),
  ),
})

/** The schema of a response that the route serializes itself. */
const rawJson = (schema: TSchema) => Type.Unsafe<string>(schema)

const ListResponse = Type.Array(WebhookLogEntry, {
  description:
    'Newest first. A payload above 16 KiB is replaced by `{truncated: true, bytes}`; responses and attempts are shortened, ' +
    'and further in proportion with a `limit` above 100, which bounds the size of a page',
  examples: [[exampleLogEntry]],
})

const EntryResponse = dataResponse(WebhookLogEntry, {
  description: 'The requested entry',
  headers: etagHeader,
  examples: [exampleLogEntry],
})

/** Per user. A page may take several MiB, repeatedly until it is sent. */
const maxConcurrentLists = 2

export function webhookLogRoutes({ db }: QueryDependencies): FastifyPluginAsyncTypebox {
  const described = (...[operationId, summary, ...codes]: [string, string, ...ErrorCode[]]) => ({
    ...errorResponses(codes),
    operationId,
    tags: ['webhooks'],
    summary,
    description:
      'Entries about the caller’s own payments and tests; all for who has the right read. Requires a session.',
    headers: Headers,
  })

  const limitLists = createConcurrencyLimit(maxConcurrentLists)

  return async (http) => {
    http.get(
      '/webhooks/logs',
      {
        config: { callers: 'session' },
        schema: {
          ...described('listWebhookLogs', 'List webhooks sent to endpoints'),
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
        config: { callers: 'session' },
        schema: {
          ...described('getWebhookLog', 'Get a webhook sent to an endpoint, with every attempt', 'not_found'),
          params: ItemParams,
          response: { 200: rawJson(EntryResponse) },
        },
      },
      async ({ actor, params }, reply) => {
        const user_id = userSeenBy(actor)
        const id = recordedId(params.id)
        const found = id === null ? undefined : await getWebhookLog(db, { id, user_id })
        if (found === undefined)
          throw notOwned(actor, 'read', new DomainError('not_found', 'No webhook log entry with this id'))
        reply.header('etag', `"${found.revision}"`)
        return replyWithJson(reply, `{"success":true,"data":${entryJson(found.item)}}`)
      },
    )
  }
}

function toWebhookLogsQuery(
  caller: Actor,
  { provider, event_type: event, status, limit, offset }: Static<typeof ListQuery>,
): WebhookLogsQuery {
  return { user_id: userSeenBy(caller), provider, event, status, limit, offset }
}

/** @throws DomainError `forbidden` for a route without session hook: it fails closed */
function sessionOf(caller: Actor): Session {
  if (caller.kind !== 'session') throw new DomainError('forbidden', 'A session is required')
  return caller
}

/** The user whose entries a caller sees; `undefined` for who may read everybody's: then all. */
function userSeenBy(caller: Actor): string | undefined {
  const { user_id } = sessionOf(caller)
  return hasRight(caller, 'read') ? undefined : user_id
}

/**
 * A log entry as JSON. The payload is inserted as stored: parsing it would round large numbers, and deep nesting would fail
 * the whole list.
 */
function entryJson({ payload, ...entry }: LoggedWebhook): string {
  return `${JSON.stringify(entry).slice(0, -1)},"payload":${payload}}`
}

function replyWithJson(reply: Pick<FastifyReply, 'type'>, json: string): string {
  reply.type('application/json; charset=utf-8')
  return json
}
