// What the routes of every resource are given, and what their descriptions share.
import type { ErrorCode } from '@paylog/domain/errors'
import type { Queryable } from '@paylog/projections/queries/namedQuery'
import type { Callers } from '@paylog/runtime/http/callers'
import { callerSecurity, errorResponses } from '@paylog/runtime/http/openApiParts'
import { type ReadAfter, ReadAfterHeaders, staleHeader } from './readAfter.ts'

export type QueryDependencies = {
  readonly db: Queryable
  readonly sessionOrGuest: Callers['sessionOrGuest']
  readonly session: Callers['session']
  readonly administrator: Callers['administrator']
  readonly readAfter: ReadAfter
}

/**
 * The part of a route's schema that is the same for all of them.
 * @param codes of the errors that not every read has
 */
export const readSchema = (tag: string, operationId: string, summary: string, ...codes: readonly ErrorCode[]) => ({
  // What could not be waited for may be missing, or the database be away altogether.
  ...errorResponses(codes, { 404: staleHeader, 503: staleHeader }),
  tags: [tag],
  operationId,
  summary,
  description: 'For a session, or for a guest with a token: what is not the caller’s own is not there.',
  headers: ReadAfterHeaders,
  security: callerSecurity,
})
