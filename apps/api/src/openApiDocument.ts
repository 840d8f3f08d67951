// Completes the document that the routes make: errors, headers that every answer has, and what Fastify knows nothing of.
import { type ErrorCode, errorStatus } from '@paylog/domain/errors'
import type { RouteNotes } from '@paylog/runtime/http/openApiParts'
import { operationsTag } from '@paylog/runtime/http/operationsSchemas'
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
export const commonHeaders = {
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
export function completed<Made extends object>(document: Made): Made {
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
