// Parts of the OpenAPI description that all routes share: envelopes, credentials and operator endpoints.
import type { ErrorCode } from '@paylog/domain/errors'
import { type TSchema, Type } from 'typebox'

/** The envelope of a response. @param options `headers` of the response, by name; `examples` of the data */
export const dataResponse = <Data extends TSchema>(
  data: Data,
  options: { readonly description: string; readonly headers?: object; readonly examples: readonly object[] },
) =>
  Type.Object(
    { success: Type.Literal(true), data },
    { headers: {}, ...options, examples: options.examples.map((example) => ({ success: true, data: example })) },
  )

export const etagHeader = {
  ETag: Type.String({ description: 'The revision of the returned resource, for If-Match' }),
}

/** The body of every error response; the document also lists the codes. `details` depends on the code. */
export const ErrorResponse = Type.Object(
  {
    success: Type.Literal(false),
    error: Type.Object(
      {
        code: Type.String(),
        message: Type.String({ description: 'For humans; may change' }),
        details: Type.Optional(
          Type.Record(Type.String(), Type.Unknown(), { description: 'Additional information; depends on the code' }),
        ),
        request_id: Type.String({ description: 'Same as X-Request-Id; include it in support requests' }),
      },
      { title: 'Error' },
    ),
  },
  { title: 'ErrorResponse' },
)

/** Documentation of a route that its Fastify schema cannot express; apps/api replaces these keys. */
export type RouteNotes = {
  readonly 'x-errors'?: {
    readonly codes: readonly ErrorCode[]
    /** Headers of error responses, by status and name. */
    readonly headers: Readonly<Record<number, object>>
  }
  readonly 'x-body'?: { readonly description: string; readonly content: object }
  readonly 'x-optional-body'?: true
  /** The response as `text/csv`, beside the JSON. */
  readonly 'x-csv'?: { readonly description: string; readonly example: string; readonly headers: object }
  /** The right that the route needs, such as `read`, or `export or charge` where one is enough; it stays in the document. */
  readonly 'x-right'?: string
}

/**
 * The errors of a route in addition to those of every route of its kind: `invalid_request`, `internal_error` and
 * `service_unavailable`; with credentials also `unauthenticated`, `rate_limited`, `identity_unavailable` and, for
 * session-only routes, `forbidden`; with credentials and a body, `body_too_large`, `unsupported_media_type` and
 * `card_number_rejected`.
 * They are not response schemas of the route, because Fastify would drop unknown details from error bodies.
 * @param headers of these error responses, by status
 */
export const errorResponses = (
  codes: readonly ErrorCode[],
  headers: Readonly<Record<number, object>> = {},
): RouteNotes => ({
  'x-errors': { codes, headers },
})

/** For an optional body. */
export const optionalBody: RouteNotes = { 'x-optional-body': true }

/** For a body that the route reads as raw bytes and therefore has no schema for. */
export const rawJsonBody = (description: string, example: object): RouteNotes => ({
  'x-body': { description, content: { 'application/json': { schema: { type: 'object' }, example } } },
})

/** Hides a parameter, or a body, that a route validates but does not use. */
export const unused = { 'x-unused': true }

/** The credentials; their order of precedence is in the interface, section 5. */
export const securitySchemes = {
  session: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Session-ID',
    description: 'A session. Also as `session_id` in the query.',
  },
  bearer: { type: 'http', scheme: 'bearer', description: 'A session.' },
  guest: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Guest-Token',
    description: 'A guest token. Also as `Authorization: Token <token>`, or `token` in the query.',
  },
} as const

/** The tag of the operator endpoints. */
export const operationsTag = 'operations'

const common = { tags: [operationsTag] }
const limited = { ...common, ...errorResponses(['rate_limited']) }

export const livenessSchema = {
  ...common,
  operationId: 'getLiveness',
  summary: 'Check whether the process is alive',
  description: 'Needs no credential. Does not check dependencies.',
  response: {
    200: Type.Object(
      { status: Type.Literal('live') },
      { description: 'The process is alive', examples: [{ status: 'live' }] },
    ),
  },
}

/** Untyped, because details differ from check to check. */
export const Checks = Type.Unsafe<object>({
  type: 'object',
  additionalProperties: {
    type: 'object',
    required: ['ok'],
    properties: { ok: { type: 'boolean' } },
    additionalProperties: true,
  },
  description: 'The result of each check by name: `ok`, and details of the check',
})

const readiness = (description: string, statuses: string[], examples: object[]) =>
  Type.Object({ status: Type.Enum(statuses), checks: Checks }, { description, examples })

export const readinessSchema = {
  ...limited,
  operationId: 'getReadiness',
  summary: 'Check whether the process can serve requests',
  description:
    'Needs no credential. Checks every dependency, for at most two seconds each and once a second; failures are logged.',
  response: {
    200: readiness(
      'All dependencies are available',
      ['ready'],
      [{ status: 'ready', checks: { event_store: { ok: true, head: '4711' } } }],
    ),
    503: readiness(
      'A dependency is unavailable, or the process is stopping',
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
  summary: 'Get the metrics of this process',
  description: 'Needs no credential. Uses the Prometheus text format.',
  produces: ['text/plain'],
  response: {
    200: Type.String({
      description: 'One line per metric and label set, preceded by the help text and type of the metric',
      examples: ['# TYPE commands_total counter\ncommands_total{command="createPaymentIntent",outcome="ok"} 42\n'],
    }),
  },
}
