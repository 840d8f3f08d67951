// What the descriptions of all routes have in common: the envelopes, and how callers present themselves.
import type { ErrorCode } from '@paylog/domain/errors'
import { type TSchema, Type } from 'typebox'

/** The envelope of every answer with one resource. @param options `headers` are those of the answer, by their names */
export const dataResponse = <Data extends TSchema>(
  data: Data,
  options: { readonly description: string; readonly headers: object; readonly examples?: readonly object[] },
) => Type.Object({ success: Type.Literal(true), data }, options)

export const etagHeader = {
  ETag: Type.String({ description: 'The revision of the resource that the answer shows, for If-Match' }),
}

/** Every answer that is not a success, whatever its status. `details` depends on the code. */
export const ErrorResponse = Type.Object(
  {
    success: Type.Literal(false),
    error: Type.Object({
      code: Type.String(),
      message: Type.String({ description: 'Made for people; may change' }),
      details: Type.Optional(
        Type.Record(Type.String(), Type.Unknown(), { description: 'What is known beyond the code' }),
      ),
      request_id: Type.String({ description: 'As X-Request-Id; quote it when you ask for help' }),
    }),
  },
  { description: 'An error' },
)

/** What the documentation of a route says beyond what Fastify knows of it; the document does not show these keys. */
export type RouteNotes = {
  readonly 'x-refusals'?: {
    readonly codes: readonly ErrorCode[]
    /** Of refusals with these statuses, by their names. */
    readonly headers: Readonly<Record<number, object>>
  }
  readonly 'x-body'?: { readonly description: string; readonly content: object }
  readonly 'x-optional-body'?: true
}

/**
 * The errors that a route answers beside those of every route of its kind: `invalid_request`, `internal_error` and
 * `service_unavailable`; with credentials also `unauthenticated`, `rate_limited`, `identity_unavailable` and, for sessions
 * alone, `forbidden`; and where a credential and a body may come, `body_too_large` and `unsupported_media_type`.
 * They are no schemas of the route's own, so that error bodies are written out whole whatever their details are.
 * @param headers those that a refusal has like an answer, by status
 */
export const errorResponses = (
  codes: readonly ErrorCode[],
  headers: Readonly<Record<number, object>> = {},
): RouteNotes => ({
  'x-refusals': { codes, headers },
})

/** For a body that may be left out. */
export const optionalBody: RouteNotes = { 'x-optional-body': true }

/** For a body that the route takes as the bytes that came, and for which it therefore has no schema. */
export const rawJsonBody = (description: string, example: object): RouteNotes => ({
  'x-body': { description, content: { 'application/json': { schema: { type: 'object' }, example } } },
})

/** Marks a parameter that a route checks and has no use for: the documentation does not offer it. */
export const unused = { 'x-unused': true }

/** The ways to present a credential; the interface's section 5 has their order. */
export const securitySchemes = {
  session: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Session-ID',
    description: 'A session. Also as `Authorization: Bearer <session>`, or `session_id` in the query.',
  },
  guest: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Guest-Token',
    description: 'A guest token. Also as `Authorization: Token <token>`, or `token` in the query.',
  },
} as const

/** A session or a guest token is asked for. */
export const callerSecurity = [{ session: [] }, { guest: [] }]
