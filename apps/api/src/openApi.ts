// Serves the OpenAPI document and its page, and adds what Fastify leaves out: errors, common headers, bodies.
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import { type ErrorCode, errorStatus } from '@paylog/domain/errors'
import { operationsTag, type RouteNotes, securitySchemes } from '@paylog/runtime/http/openApiSchemas'
import { closedSchema } from '@paylog/runtime/http/unknownFields'
import type { FastifyInstance, FastifySchema } from 'fastify'
import { Type } from 'typebox'
import manifest from '../package.json' with { type: 'json' }
import { errorCodes, errorExamples, errorSchema, explanationOf } from './openApiErrors.ts'
import { type Json, withNamedSchemas } from './openApiNames.ts'
import { outgoingWebhooks } from './openApiWebhooks.ts'

type Headers = Record<string, object>
type Response = { description: string; headers?: Headers; content?: object }
type Operation = { -readonly [Key in keyof RouteNotes]: RouteNotes[Key] } & {
  readonly tags?: readonly string[]
  security?: readonly object[]
  parameters?: readonly { readonly schema?: object }[]
  requestBody?: { readonly description?: string; readonly required?: boolean; readonly content: object }
  responses: Record<string, Response | { readonly $ref: string }>
}
type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly webhooks: object
  readonly components: object
}

const header = (schema: object, description: string) => ({ description, schema })
const integer = { type: 'integer', minimum: 0 }

/** Headers of every response. */
const commonHeaders = {
  'X-Request-Id': header(
    { type: 'string', format: 'uuid' },
    'Identifies the request in the log. Quote it in support requests',
  ),
  'RateLimit-Limit': header(integer, 'Requests per minute that the caller may send. Only where requests are limited'),
  'RateLimit-Remaining': header(integer, 'Requests left in this minute'),
  'RateLimit-Reset': header(integer, 'Seconds until the minute ends'),
  'Retry-After': header(integer, 'Seconds to wait before a retry'),
}

const references = (names: readonly string[]): Headers =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
const everyHeader = references(['X-Request-Id'])
const countedHeaders = references(['X-Request-Id', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'])
const retryHeaders = references(['Retry-After'])

/** @returns a completed copy of the generated document */
function completedCopy<Made extends object>(document: Made): Made {
  const copy: Document = JSON.parse(JSON.stringify({ ...document, webhooks: outgoingWebhooks }, withPlainTypes))
  const responses: Record<string, Response> = {}
  for (const path of Object.values(copy.paths))
    for (const [method, operation] of Object.entries(path)) complete(operation, method, responses)
  const schemas: Record<string, unknown> = {}
  const named = Object.entries({ paths: copy.paths, webhooks: copy.webhooks, responses }).map(
    ([name, part]) => [name, withNamedSchemas(part, schemas)] as const,
  )
  const { responses: errors, ...routes } = Object.fromEntries(named)
  const components = { ...copy.components, schemas: sorted(schemas), responses: errors }
  return JSON.parse(JSON.stringify({ ...copy, ...routes, components }))
}

const sorted = (named: object) => Object.fromEntries(Object.entries(named).sort(([a], [b]) => (a < b ? -1 : 1)))

const maxOf32Bits = 2 ** 31 - 1

/**
 * A JSON replacer that says what generators of clients need: the type of enums of strings; `null` beside the type instead of in
 * `anyOf`, for which some make a class; and the size of integers, because 32 bits do not hold an amount of 30 million.
 */
function withPlainTypes(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const schema: Json = withNull(withNullable({ ...value }))
  if (Array.isArray(schema.enum) && schema.type === undefined)
    return schema.enum.every((each) => typeof each === 'string') ? { type: 'string', ...schema } : schema
  const isInteger = [schema.type].flat().includes('integer')
  const isLarge = !(Number(schema.maximum) <= maxOf32Bits)
  return isInteger && isLarge ? { ...schema, format: 'int64' } : schema
}

/** The serializer knows null beside a type by `nullable` alone, where bigints are to be written. */
function withNullable({ nullable, ...schema }: Json): Json {
  return nullable === true ? { ...schema, type: [schema.type, 'null'] } : schema
}

/** Not for named schemas, which become references. */
function withNull(schema: Json): Json {
  const { anyOf, ...rest } = schema
  const [first, second, ...others] = Array.isArray(anyOf) ? anyOf : []
  const isPlain = typeof first?.type === 'string' && !('title' in first) && !('enum' in first) && !('const' in first)
  const isNullable = second?.type === 'null' && others.length === 0
  return isPlain && isNullable ? { ...first, ...rest, type: [first.type, 'null'] } : schema
}

/** A session may always be sent as a bearer token, too. */
const bearer = { bearer: [] }

function complete(operation: Operation, method: string, shared: Record<string, Response>): void {
  const { 'x-errors': own, 'x-body': body, 'x-optional-body': isOptional, 'x-csv': csv, parameters } = operation
  delete operation['x-errors']
  delete operation['x-body']
  delete operation['x-optional-body']
  delete operation['x-csv']
  if (csv) addFile(operation, csv)
  if (body) operation.requestBody = { required: true, ...body }
  if (isOptional && operation.requestBody) operation.requestBody = { ...operation.requestBody, required: false }
  if (parameters) removeUnusedParameters(operation, parameters)
  for (const response of Object.values(operation.responses))
    if ('description' in response)
      response.headers = { ...response.headers, ...(operation.security ? countedHeaders : everyHeader) }
  for (const [status, codes] of byStatus([...codesOfAll(operation, method), ...(own?.codes ?? [])])) {
    const headers = own?.headers[status]
    operation.responses[status] = headers ? errorResponse(status, codes, headers) : reference(shared, status, codes)
  }
  operation.security = (operation.security ?? []).flatMap((way) => ('session' in way ? [way, bearer] : [way]))
}

function addFile({ responses }: Operation, { description, example, headers }: NonNullable<RouteNotes['x-csv']>): void {
  const { 200: success } = responses
  if (success === undefined || !('description' in success)) throw new Error('A file needs the response of its list')
  success.content = { ...success.content, 'text/csv': { schema: { type: 'string', description }, example } }
  success.headers = { ...success.headers, ...described(headers) }
}

function removeUnusedParameters(operation: Operation, parameters: readonly { readonly schema?: object }[]): void {
  const offered = parameters.filter(({ schema }) => !(schema && 'x-unused' in schema))
  if (offered.length > 0) operation.parameters = offered
  else delete operation.parameters
}

/** The errors that every route of its kind can return. */
function codesOfAll({ tags, security }: Operation, method: string): readonly ErrorCode[] {
  const codes: ErrorCode[] = ['invalid_request', 'internal_error']
  if (tags?.includes(operationsTag)) return codes
  codes.push('service_unavailable')
  if (security === undefined) return codes
  codes.push('unauthenticated', 'rate_limited', 'identity_unavailable')
  if (security.every((scheme) => 'session' in scheme)) codes.push('forbidden')
  if (method !== 'get') codes.push('body_too_large', 'unsupported_media_type', 'card_number_rejected')
  return codes
}

/** @returns sorted by status, then in the order of the table of codes */
function byStatus(codes: readonly ErrorCode[]): ReadonlyMap<number, readonly ErrorCode[]> {
  const wanted: ReadonlySet<string> = new Set(codes)
  const groups = new Map<number, ErrorCode[]>()
  for (const code of errorCodes.filter((each) => wanted.has(each)))
    groups.set(errorStatus[code], [...(groups.get(errorStatus[code]) ?? []), code])
  return new Map([...groups].sort(([a], [b]) => a - b))
}

/** Most routes share their error responses, so that each is written once. */
function reference(shared: Record<string, Response>, status: number, codes: readonly ErrorCode[]) {
  const name = codes.join('.')
  shared[name] ??= errorResponse(status, codes)
  return { $ref: `#/components/responses/${name}` }
}

/** @param headers more headers, as schemas */
function errorResponse(status: number, codes: readonly ErrorCode[], headers: object = {}): Response {
  const isForLater = status === errorStatus.rate_limited || status === errorStatus.service_unavailable
  return {
    description: codes.map((code) => (codes.length === 1 ? '' : `\`${code}\`: `) + explanationOf(code)).join(' '),
    headers: { ...described(headers), ...countedHeaders, ...(isForLater && retryHeaders) },
    content: { 'application/json': { schema: errorSchema(codes), examples: errorExamples(codes) } },
  }
}

/** Header schemas as OpenAPI headers. */
function described(headers: object): Headers {
  return Object.fromEntries(
    Object.entries(headers).map(([name, { description, ...schema }]) => [name, header(schema, description)]),
  )
}

/** The page loads nothing from other origins. The policy of the library would also force https, which a trial lacks. */
const contentSecurityPolicy = {
  'default-src': ["'self'"],
  'img-src': ["'self'", 'data:'],
  'style-src': ["'self'", "'unsafe-inline'"],
  'frame-ancestors': ["'none'"],
}

const apiDescription = [
  'Payments recorded as events. Request and response bodies are JSON.',
  'A response with one resource is `{"success": true, "data": {…}}`; a list has its page beside `data`. Two routes differ: `GET /webhooks/logs` returns a bare array of entries, and a setup intent has its fields beside `success`.',
  'Fields that a body does not have here are 400 `invalid_request`, which names the nearest field, and so are unknown query parameters of a request that changes something. A `GET` ignores unknown parameters.',
  'Every error is `{"success": false, "error": {"code", "message", "details", "request_id"}}`. Clients should decide by `code`. Requests with too large headers (431), that do not arrive in time (408: nothing was done, send it again), or that are not valid HTTP get errors in the same form. A method that the path does not have is 405 `method_not_allowed`; `Allow` names its methods.',
  'A `POST` with an `Idempotency-Key` may be repeated until there is a response. A change with `If-Match` is applied only to the version that the client has seen. A read with `X-Read-After`, set to the `X-Event-Position` of a write, includes that write.',
  'Requests may be limited per credential, and payments without a credential per client address. The `RateLimit-*` headers show the remaining requests.',
]

const apiTags = [
  { name: 'payments', description: 'Create payments and read their state' },
  { name: 'payment methods', description: 'Saved payment methods' },
  { name: 'addresses', description: 'Billing and shipping addresses of owners' },
  { name: 'products', description: 'The product catalogue and its sync to providers, for administrators' },
  { name: 'webhooks', description: 'Outgoing webhooks: tests and the delivery log of the configured endpoints' },
  { name: 'provider webhooks', description: 'Receivers of signed provider notifications' },
  { name: 'system', description: 'Processes, read models and jobs, for administrators' },
  { name: 'privacy', description: 'Erasing persons, for administrators' },
  { name: operationsTag, description: 'Health and metrics, for operators' },
]

/** Collects the routes that are registered after it. @param notes Markdown at the end of the description of the API */
export async function collectRoutes(app: FastifyInstance, notes: readonly string[] = []): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Paylog',
        version: manifest.version,
        description: [...apiDescription, ...notes].join('\n\n'),
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: '/', description: 'The server of this document' }],
      tags: apiTags,
      components: { securitySchemes, headers: commonHeaders },
    },
    transform: ({ schema, url }) => ({ schema: withOptionalDefaults(withClosedBody(schema)), url }),
    transformObject: (made) => ('openapiObject' in made ? completedCopy(made.openapiObject) : made.swaggerObject),
  })
}

/** Collects the routes that are registered after it, and serves /openapi.json and /docs. @param notes as of `collectRoutes` */
export const openApi =
  (notes: readonly string[]) =>
  async (app: FastifyInstance): Promise<void> => {
    await collectRoutes(app, notes)
    await showDocument(app)
  }

/** Serves /openapi.json and /docs with a finished document. */
export const documentOf =
  (document: object) =>
  async (app: FastifyInstance): Promise<void> => {
    await app.register(swagger, { mode: 'static', specification: { document: JSON.parse(JSON.stringify(document)) } })
    await showDocument(app)
  }

async function showDocument(app: FastifyInstance): Promise<void> {
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    uiConfig: { url: '/openapi.json', deepLinking: true, filter: true, persistAuthorization: true },
    theme: { title: 'Paylog API', css: [{ filename: 'paylog.css', content: '.swagger-ui .topbar { display: none }' }] },
    staticCSP: contentSecurityPolicy,
  })
  // Serialised once, because anyone may request it and each copy would use memory until the client has read it.
  let text: Buffer | undefined
  app.get('/openapi.json', { schema: { hide: true } }, async (_request, reply) => {
    text ??= Buffer.from(JSON.stringify(app.swagger()))
    return reply.type('application/json; charset=utf-8').send(text)
  })
}

/** Shows that unknown fields of a body are errors. A route without fields has no body to show. */
function withClosedBody({ body, ...schema }: FastifySchema = {}): FastifySchema {
  return Type.IsSchema(body) && !('x-unused' in body) ? { ...schema, body: closedSchema(body) } : schema
}

/** Query parameters with a default are optional for clients, although handlers always get a value. */
function withOptionalDefaults(schema: FastifySchema): FastifySchema {
  const { querystring } = schema
  if (!Type.IsObject(querystring)) return schema
  const { required = [], properties } = querystring
  const stillRequired = required.filter((name) => !('default' in (properties[name] ?? {})))
  return { ...schema, querystring: { ...querystring, required: stillRequired } }
}
