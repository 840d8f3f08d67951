// Completes the document that the routes make: errors, headers that every answer has, and what Fastify knows nothing of.
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import { type ErrorCode, errorStatus } from '@paylog/domain/errors'
import { operationsTag, type RouteNotes, securitySchemes } from '@paylog/runtime/http/openApiSchemas'
import type { FastifyInstance, FastifySchema } from 'fastify'
import { Type } from 'typebox'
import { errorExamples, errorSchema, explanationOf } from './openApiErrors.ts'

type Headers = Record<string, object>
type Response = { description: string; headers?: Headers; content?: object }
type Operation = { -readonly [Key in keyof RouteNotes]: RouteNotes[Key] } & {
  readonly tags?: readonly string[]
  readonly security?: readonly object[]
  parameters?: readonly { readonly schema?: object }[]
  requestBody?: { readonly description?: string; readonly required?: boolean; readonly content: object }
  responses: Record<string, Response | { readonly $ref: string }>
}
type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly responses?: Record<string, Response> }
}

const header = (schema: object, description: string) => ({ description, schema })
const integer = { type: 'integer', minimum: 0 }

/** Of all answers, whatever they are about. */
const commonHeaders = {
  'X-Request-Id': header({ type: 'string', format: 'uuid' }, 'Names the request in the log; quote it to ask for help'),
  'RateLimit-Limit': header(integer, 'How many requests a minute the caller has. Only where requests are limited'),
  'RateLimit-Remaining': header(integer, 'How many of them are left'),
  'RateLimit-Reset': header(integer, 'In how many seconds the minute is over'),
  'Retry-After': header(integer, 'After how many seconds to try again'),
}

const references = (names: readonly string[]): Headers =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
const ofEvery = references(['X-Request-Id'])
const ofCounted = references(['X-Request-Id', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'])
const ofLater = references(['Retry-After'])

/** @param document as the routes make it; it stays as it is */
function completed<Made extends object>(document: Made): Made {
  const copy: Document = JSON.parse(JSON.stringify(document, named))
  const components: { responses: Record<string, Response> } = Object.assign(copy.components, { responses: {} })
  for (const path of Object.values(copy.paths))
    for (const [method, operation] of Object.entries(path)) complete(operation, method, components.responses)
  return JSON.parse(JSON.stringify(copy))
}

/** A replacer for JSON: what is one of several texts is said to be text. */
function named(_key: string, value: unknown): unknown {
  const isEnum = typeof value === 'object' && value !== null && 'enum' in value && !('type' in value)
  if (!isEnum || !Array.isArray(value.enum)) return value
  return value.enum.every((each) => typeof each === 'string') ? { type: 'string', ...value } : value
}

function complete(operation: Operation, method: string, shared: Record<string, Response>): void {
  const { 'x-refusals': own, 'x-body': body, 'x-optional-body': isOptional, parameters } = operation
  delete operation['x-refusals']
  delete operation['x-body']
  delete operation['x-optional-body']
  if (body) operation.requestBody = { required: true, ...body }
  if (isOptional && operation.requestBody) operation.requestBody = { ...operation.requestBody, required: false }
  if (parameters) removeUnusedParameters(operation, parameters)
  for (const answer of Object.values(operation.responses))
    if ('description' in answer) answer.headers = { ...answer.headers, ...(operation.security ? ofCounted : ofEvery) }
  for (const [status, codes] of byStatus([...codesOfAll(operation, method), ...(own?.codes ?? [])])) {
    const headers = own?.headers[status]
    operation.responses[status] = headers ? errorResponse(status, codes, headers) : reference(shared, status, codes)
  }
}

function removeUnusedParameters(operation: Operation, parameters: readonly { readonly schema?: object }[]): void {
  const offered = parameters.filter(({ schema }) => !(schema && 'x-unused' in schema))
  if (offered.length > 0) operation.parameters = offered
  else delete operation.parameters
}

/** What every route of its kind can answer. */
function codesOfAll({ tags, security }: Operation, method: string): readonly ErrorCode[] {
  const codes: ErrorCode[] = ['invalid_request', 'internal_error']
  if (tags?.includes(operationsTag)) return codes
  codes.push('service_unavailable')
  if (security === undefined) return codes
  codes.push('unauthenticated', 'rate_limited', 'identity_unavailable')
  if (security.every((scheme) => 'session' in scheme)) codes.push('forbidden')
  if (method !== 'get') codes.push('body_too_large', 'unsupported_media_type')
  return codes
}

/** @returns in the order of the statuses, and of the table of codes */
function byStatus(codes: readonly ErrorCode[]): ReadonlyMap<number, readonly ErrorCode[]> {
  const wanted: ReadonlySet<string> = new Set(codes)
  const groups = new Map<number, ErrorCode[]>()
  for (const code of errorCodes.filter((each) => wanted.has(each)))
    groups.set(errorStatus[code], [...(groups.get(errorStatus[code]) ?? []), code])
  return new Map([...groups].sort(([a], [b]) => a - b))
}

const errorCodes = Object.keys(errorStatus).filter((code): code is ErrorCode => Object.hasOwn(errorStatus, code))

/** Most routes are refused alike, so that what they answer is written once. */
function reference(shared: Record<string, Response>, status: number, codes: readonly ErrorCode[]) {
  const name = codes.join('.')
  shared[name] ??= errorResponse(status, codes)
  return { $ref: `#/components/responses/${name}` }
}

/** @param headers of the route's own, as schemas */
function errorResponse(status: number, codes: readonly ErrorCode[], headers: object = {}): Response {
  const isForLater = status === errorStatus.rate_limited || status === errorStatus.service_unavailable
  return {
    description: codes.map((code) => (codes.length === 1 ? '' : `\`${code}\`: `) + explanationOf(code)).join(' '),
    headers: { ...described(headers), ...ofCounted, ...(isForLater && ofLater) },
    content: { 'application/json': { schema: errorSchema(codes), examples: errorExamples(codes) } },
  }
}

/** Headers of a route's own, as schemas with descriptions. */
function described(headers: object): Headers {
  return Object.fromEntries(
    Object.entries(headers).map(([name, { description, ...schema }]) => [name, header(schema, description)]),
  )
}

// The OpenAPI document of both sides, and the page that shows it.

/** The page loads nothing from elsewhere. The library's own policy would also force https, which a trial has not. */
const contentSecurityPolicy = {
  'default-src': ["'self'"],
  'img-src': ["'self'", 'data:'],
  'style-src': ["'self'", "'unsafe-inline'"],
  'frame-ancestors': ["'none'"],
}

const apiDescription = [
  'Payments recorded as events. Bodies and answers are JSON.',
  'An answer about one thing is `{"success": true, "data": {…}}`, and a list has its page beside `data`. Two routes answer otherwise: `GET /webhooks/logs` is the bare array of entries, and a setup intent has its fields beside `success`.',
  'Every error is `{"success": false, "error": {"code", "message", "details", "request_id"}}`. Programs decide by `code`. A request whose headers are too large (431), which is not sent in time (408), or which is no HTTP is answered in the same form on its way in. A path that is called with a method that it does not have is 405 `method_not_allowed`, and `Allow` names its methods.',
  'A `POST` with an `Idempotency-Key` may be repeated until there is an answer; a change with `If-Match` is made only to what the client has seen; a read with `X-Read-After` shows the write whose `X-Event-Position` it is.',
  'Requests may be limited per credential, and payments without a credential per address: `RateLimit-*` tell what is left.',
].join('\n\n')

const apiTags = [
  { name: 'payments', description: 'Opening payments and following them' },
  { name: 'payment methods', description: 'Methods that owners keep to pay with again' },
  { name: 'addresses', description: 'Billing and shipping addresses of owners' },
  { name: 'products', description: 'The catalogue, and bringing it to providers; for administrators' },
  { name: 'webhooks', description: 'What is sent to the configured endpoints: its log, and trying them out' },
  { name: 'provider webhooks', description: 'Where providers tell what happened, signed by them' },
  { name: operationsTag, description: 'For whoever runs the service' },
]

/** Collects the routes that are registered after it. */
export async function collectRoutes(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Paylog', version: '0.1.0', description: apiDescription },
      servers: [{ url: '/', description: 'Where this document comes from' }],
      tags: apiTags,
      components: { securitySchemes, headers: commonHeaders },
    },
    transform: ({ schema, url }) => ({ schema: withOptionalDefaults(schema), url }),
    transformObject: (made) => ('openapiObject' in made ? completed(made.openapiObject) : made.swaggerObject),
  })
}

/** Collects the routes that are registered after it; answers /openapi.json and /docs. */
export async function openApi(app: FastifyInstance): Promise<void> {
  await collectRoutes(app)
  await showDocument(app)
}

/** Answers /openapi.json and /docs with a document that was made elsewhere. */
export const documentOf =
  (document: object) =>
  async (app: FastifyInstance): Promise<void> => {
    await app.register(swagger, { mode: 'static', specification: { document: JSON.parse(JSON.stringify(document)) } })
    await showDocument(app)
  }

async function showDocument(app: FastifyInstance): Promise<void> {
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    uiConfig: { url: '/openapi.json', deepLinking: true, defaultModelsExpandDepth: -1 },
    theme: { title: 'Paylog API', css: [{ filename: 'paylog.css', content: '.swagger-ui .topbar { display: none }' }] },
    staticCSP: contentSecurityPolicy,
  })
  // Anybody may ask for it, and what is written anew for each would take up memory until it is read.
  let text: Buffer | undefined
  app.get('/openapi.json', { schema: { hide: true } }, async (_request, reply) => {
    text ??= Buffer.from(JSON.stringify(app.swagger()))
    return reply.type('application/json; charset=utf-8').send(text)
  })
}

/** What has a default in the query may be left out, though a handler always finds it. */
function withOptionalDefaults(schema: FastifySchema | undefined): FastifySchema {
  const { querystring } = schema ?? {}
  if (!Type.IsObject(querystring)) return schema ?? {}
  const { required = [], properties } = querystring
  const asked = required.filter((name) => !('default' in (properties[name] ?? {})))
  return { ...schema, querystring: { ...querystring, required: asked } }
}
