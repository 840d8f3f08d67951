// How every write answers: the envelope, and the headers that tell what the write has become in the log.
import type { Actor } from '@paylog/domain/actor'
import type { ErrorCode } from '@paylog/domain/errors'
import type { LogPosition } from '@paylog/domain/events'
import type { Revision } from '@paylog/event-store/append/append'
import { dataResponse, errorResponses, etagHeader, type RouteNotes } from '@paylog/runtime/http/openApiSchemas'
import type { FastifyReply } from 'fastify'
import { type TSchema, Type } from 'typebox'
import { etagOf } from './ifMatch.ts'

const position = {
  'X-Event-Position': Type.String({
    description: 'Sent as X-Read-After, it has a GET wait until this write can be read',
  }),
}
export const replayedHeader = {
  'Idempotent-Replayed': Type.Literal('true', {
    description: 'Only when an earlier request with the same Idempotency-Key was answered with this',
  }),
}

/** For the descriptions of answers: which headers `markAnswer` gives them. */
export const responseHeaders = {
  begun: { ...position, ...replayedHeader },
  created: { ...position, ...etagHeader, ...replayedHeader },
  changed: { ...position, ...etagHeader },
  deleted: position,
}

/** For the descriptions of changes that an expired guest token can make. @param resource what everybody else gets */
export const orIdOnly = <Resource extends TSchema>(resource: Resource) =>
  Type.Union([
    resource,
    Type.Object({ id: Type.String() }, { description: 'For a guest whose token has expired: the id alone' }),
  ])

/** What a caller is shown of a resource that it has changed. An expired guest token reads nothing, as it does with a GET. */
export function changedData<Resource extends { readonly id: string }>(actor: Actor, resource: Resource) {
  return actor.kind === 'guest' && actor.is_remembered ? { id: resource.id } : resource
}

export const deletedResponse = (description: string) =>
  dataResponse(Type.Object({ id: Type.String(), deleted: Type.Literal(true) }), {
    description,
    headers: responseHeaders.deleted,
    examples: [{ success: true, data: { id: '018f0000-0000-7000-8000-000000000001', deleted: true } }],
  })

/**
 * For the descriptions of routes: how a write can be refused.
 * @param codes beside those that every write has
 * @param headers of refusals that are kept and answered again, by status
 */
export const writeErrors = (codes: readonly ErrorCode[], headers: Readonly<Record<number, object>> = {}): RouteNotes =>
  errorResponses([...codes, 'card_number_rejected', 'concurrent_modification', 'event_store_unavailable'], headers)

/** How a provider that is asked on the way does not do it. */
export const providerErrors = [
  'provider_not_enabled',
  'payment_declined',
  'provider_rejected',
  'currency_not_supported',
  'provider_unavailable',
  'provider_outcome_unknown',
] as const satisfies readonly ErrorCode[]

/** How a request with an Idempotency-Key is refused for what came with the key before. */
export const idempotencyErrors = [
  'idempotency_key_in_flight',
  'idempotency_key_reused',
] as const satisfies readonly ErrorCode[]

/**
 * Tells in headers what has become of a write.
 * @param write `position` of its last event; `revision` of the resource as the answer shows it, if it shows one; `replayed`
 *   when an earlier request was answered with this
 */
export function setWriteHeaders(
  reply: FastifyReply,
  write: {
    readonly position: LogPosition | undefined
    readonly revision?: Revision
    readonly replayed?: boolean
  },
): void {
  const { position, revision, replayed } = write
  if (!position) throw new Error('A write without events')
  reply.header('x-event-position', position.commit.toString())
  if (revision !== undefined) reply.header('etag', etagOf(revision))
  if (replayed) setReplayedHeader(reply)
}

/** An earlier request with the same Idempotency-Key was answered with this. */
export function setReplayedHeader(reply: FastifyReply): void {
  reply.header('idempotent-replayed', 'true')
}

/** Answers that a resource is gone. @param removed which resource, and the position of its last event */
export function replyDeleted(
  reply: FastifyReply,
  removed: { readonly id: string; readonly position: LogPosition | undefined },
) {
  const { id, position } = removed
  setWriteHeaders(reply, { position })
  return { success: true as const, data: { id, deleted: true as const } }
}
