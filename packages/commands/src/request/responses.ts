// Responses of write routes: envelope, headers and OpenAPI descriptions.
import type { ErrorCode } from '@paylog/domain/errors'
import type { LogPosition } from '@paylog/domain/events'
import { exampleId } from '@paylog/domain/examples'
import type { Revision } from '@paylog/event-store/append/append'
import { dataResponse, errorResponses, etagHeader, type RouteNotes } from '@paylog/runtime/http/openApiSchemas'
import type { FastifyReply } from 'fastify'
import { type TSchema, Type } from 'typebox'
import { etagOf } from './ifMatch.ts'

const position = {
  'X-Event-Position': Type.String({
    description: 'Send it as X-Read-After with a GET to wait until this write is visible',
  }),
}
export const replayedHeader = {
  'Idempotent-Replayed': Type.Literal('true', {
    description: 'Present when this response belongs to an earlier request with the same Idempotency-Key',
  }),
}

/** OpenAPI descriptions of the headers that `setWriteHeaders` sets. */
export const responseHeaders = {
  started: { ...position, ...replayedHeader },
  created: { ...position, ...etagHeader, ...replayedHeader },
  changed: { ...position, ...etagHeader },
  deleted: position,
}

/** Headers of errors by status. Once a provider call is recorded, its error has the position too. */
export const startedErrorHeaders = {
  402: responseHeaders.started,
  422: responseHeaders.started,
  502: responseHeaders.started,
  504: responseHeaders.started,
}

/** OpenAPI descriptions of responses with a resource. @param example of it, which all of them show */
export const responsesWith =
  (example: object) =>
  <Data extends TSchema>(data: Data, description: string, headers: object = responseHeaders.created) =>
    dataResponse(data, { description, headers, examples: [example] })

export const deletedResponse = (description: string) =>
  dataResponse(Type.Object({ id: Type.String(), deleted: Type.Literal(true) }), {
    description,
    headers: responseHeaders.deleted,
    examples: [{ id: exampleId, deleted: true }],
  })

/**
 * OpenAPI descriptions of a write's errors.
 * @param codes beside those that every write has
 * @param headers by status, for errors that are stored and replayed
 */
export const writeErrors = (codes: readonly ErrorCode[], headers: Readonly<Record<number, object>> = {}): RouteNotes =>
  errorResponses([...codes, 'concurrent_modification', 'event_store_unavailable'], headers)

/** Errors of a write that calls a provider. */
export const providerErrors = [
  'provider_not_enabled',
  'payment_declined',
  'provider_rejected',
  'currency_not_supported',
  'provider_unavailable',
  'provider_outcome_unknown',
] as const satisfies readonly ErrorCode[]

/** Errors caused by an earlier request with the same Idempotency-Key. */
export const idempotencyErrors = [
  'idempotency_key_in_flight',
  'idempotency_key_reused',
] as const satisfies readonly ErrorCode[]

export type RecordedWrite = {
  /** Of its last event. */
  readonly position: LogPosition | undefined
  /** Of the resource in the response, if there is one. */
  readonly revision?: Revision
  /** True when an earlier request got this response. */
  readonly replayed?: boolean
}

/** Sets the headers that describe a write. */
export function setWriteHeaders(reply: FastifyReply, write: RecordedWrite): void {
  const { position, revision, replayed } = write
  if (!position) throw new Error('the write has no events')
  reply.header('x-event-position', position.commit.toString())
  if (revision !== undefined) reply.header('etag', etagOf(revision))
  if (replayed) setReplayedHeader(reply)
}

/** The response with one resource. */
export function replyWith<Resource>(reply: FastifyReply, write: RecordedWrite, data: Resource) {
  setWriteHeaders(reply, write)
  return { success: true as const, data }
}

/** Marks the response as that of an earlier request with the same Idempotency-Key. */
export function setReplayedHeader(reply: FastifyReply): void {
  reply.header('idempotent-replayed', 'true')
}
