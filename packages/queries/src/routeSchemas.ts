// Dependencies and schemas that the routes of all resources share.
import type { Guest } from '@paylog/domain/actor'
import type { ErrorCode } from '@paylog/domain/errors'
import { dataResponse, errorResponses, etagHeader } from '@paylog/runtime/http/openApiSchemas'
import type { Queryable } from '@paylog/runtime/postgres/runQuery'
import { type TSchema, Type } from 'typebox'
import { type ReadAfter, ReadAfterHeaders, staleHeader } from './readAfter.ts'

export type QueryDependencies = {
  readonly db: Queryable
  readonly readAfter: ReadAfter
  /** Called when a guest token has read a payment. */
  readonly onGuestRead: (guest: Guest, payment_id: string) => void
}

/**
 * The part of a route's schema that all reads share.
 * @param codes additional errors of this route
 */
export const readSchema = (tag: string, operationId: string, summary: string, ...codes: readonly ErrorCode[]) => ({
  // A stale read may miss the resource, and the database may be down.
  ...errorResponses(codes, { 404: staleHeader, 503: staleHeader }),
  tags: [tag],
  operationId,
  summary,
  description: 'Requires a session or a guest token. Returns only the caller’s own resources.',
  headers: ReadAfterHeaders,
})

/** As `readSchema`, for a route of administrators. */
export const administratorSchema = (...args: Parameters<typeof readSchema>) => ({
  ...readSchema(...args),
  description: 'For administrators.',
})

export const ItemParams = Type.Object({ id: Type.String({ description: 'The id of the resource' }) })
export const tokenParameter = Type.Optional(Type.String({ description: 'Guest token' }))
export const ItemQuery = Type.Object({ token: tokenParameter })

export const itemResponse = <Resource extends TSchema>(resource: Resource, example: object) =>
  dataResponse(resource, {
    description: 'The requested resource',
    headers: { ...etagHeader, ...staleHeader },
    examples: [example],
  })
