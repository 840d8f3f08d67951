// The query string of GET /webhooks/logs (interface, section 4.11), and the question that it asks.
import type { Actor, Session } from '@paylog/domain/actor'
import { DomainError } from '@paylog/domain/errors'
import { WebhookLogStatus } from '@paylog/domain/webhook-logs/resource'
import type { WebhookLogsQuery } from '@paylog/projections/webhook-logs/queries'
import { type Static, Type } from 'typebox'
import { maxPage } from '../lists.ts'

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

export const ListQuery = Type.Object({
  provider: exactMatch('provider'),
  event_type: exactMatch('name, as it is on the wire'),
  status: Type.Optional(WebhookLogStatus),
  limit: Type.Integer({ minimum: 1, maximum: 1000, default: 100, description: 'How many at most' }),
  offset: Type.Integer({ minimum: 0, maximum: maxPage, default: 0, description: 'How many of the newest are skipped' }),
})

export function toWebhookLogsQuery(
  caller: Actor,
  { provider, event_type: event, status, limit, offset }: Static<typeof ListQuery>,
): WebhookLogsQuery {
  return { user_id: userSeenBy(caller), provider, event, status: status ?? 'any', limit, offset }
}

/** @throws DomainError `forbidden` should a route have forgotten its hook: it fails closed */
export function sessionOf(caller: Actor): Session {
  if (caller.kind !== 'session') throw new DomainError('forbidden', 'This is for sessions only')
  return caller
}

/** Whose entries a caller sees: the own ones; an administrator all. */
export function userSeenBy(caller: Actor): string | undefined {
  const { is_administrator, user_id } = sessionOf(caller)
  return is_administrator ? undefined : user_id
}
