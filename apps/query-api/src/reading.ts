// What the routes of every resource are given, and what their descriptions share.
import type { Queryable } from '@paylog/projections/namedQuery'
import type { Callers } from '@paylog/runtime/callers'
import { callerSecurity } from '@paylog/runtime/openApiParts'
import { type ReadAfter, ReadAfterHeaders } from './readAfter.ts'

export type Reading = {
  readonly db: Queryable
  readonly sessionOrGuest: Callers['sessionOrGuest']
  readonly session: Callers['session']
  readonly administrator: Callers['administrator']
  readonly readAfter: ReadAfter
}

/** The part of a route's schema that is the same for all of them. */
export const readBy = (tag: string, summary: string) => ({
  tags: [tag],
  summary,
  headers: ReadAfterHeaders,
  security: callerSecurity,
})
