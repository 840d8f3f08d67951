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

// What the pages for operators answer, as the documentation says it.

/** The tag of these pages, which are beside the API. */
export const operationsTag = 'operations'

const common = { tags: [operationsTag] }
const limited = { ...common, ...errorResponses(['rate_limited']) }

export const livenessSchema = {
  ...common,
  operationId: 'getLiveness',
  summary: 'Tell whether the process lives',
  description: 'Open to anybody. Whatever the process depends on is not asked.',
  response: {
    200: Type.Object(
      { status: Type.Literal('live') },
      { description: 'It answers, so it lives', examples: [{ status: 'live' }] },
    ),
  },
}

/** Details differ from check to check, so that they are shown as they are. */
const Checks = Type.Unsafe<object>({
  type: 'object',
  additionalProperties: { type: 'object', required: ['ok'], additionalProperties: true },
  description: 'Each dependency by its name: `ok`, and details of its own',
})

const readiness = (description: string, statuses: string[], examples: object[]) =>
  Type.Object({ status: Type.Enum(statuses), checks: Checks }, { description, examples })

export const readinessSchema = {
  ...limited,
  operationId: 'getReadiness',
  summary: 'Tell whether requests can be served',
  description:
    'Open to anybody. Every dependency is asked, at most for two seconds and once a second; why one fails is for the log.',
  response: {
    200: readiness(
      'Everything that it needs answers',
      ['ready'],
      [{ status: 'ready', checks: { event_store: { ok: true, head: '4711' } } }],
    ),
    503: readiness(
      'Something that it needs does not answer, or the process is stopping',
      ['unavailable', 'stopping'],
      [
        { status: 'unavailable', checks: { event_store: { ok: false } } },
        { status: 'stopping', checks: {} },
      ],
    ),
  },
}

export const metricsSchema = {
  ...limited,
  operationId: 'getMetrics',
  summary: 'Get the figures of this process',
  description: 'Open to anybody. In the text format of Prometheus.',
  produces: ['text/plain'],
  response: {
    200: Type.String({
      description: 'One line for each figure and set of labels, with what it is before it',
      examples: ['# TYPE commands_total counter\ncommands_total{command="createPaymentIntent",outcome="ok"} 42\n'],
    }),
  },
}
