// Reads the OpenAPI document as a client would, sends its examples, and checks responses against it.

import { randomUUID } from 'node:crypto'
import type { Test } from 'tap'
import type { TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'

export type Content = {
  readonly schema: TSchema
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>
}
export type DocumentedResponse = {
  readonly description?: string
  readonly headers?: Readonly<Record<string, { readonly description?: string }>>
  readonly content?: Readonly<Record<string, Content>>
}
export type Parameter = {
  readonly name: string
  readonly in: string
  readonly description?: string
  readonly required?: boolean
  readonly example?: unknown
  readonly schema: {
    readonly type?: string
    readonly enum?: readonly string[]
    readonly format?: string
    readonly minimum?: number
  }
}
type Operation = {
  readonly operationId?: string
  readonly summary?: string
  readonly description?: string
  readonly tags?: readonly string[]
  readonly security: readonly object[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: DocumentedResponse & { readonly required?: boolean }
  readonly responses: Readonly<Record<string, DocumentedResponse>>
}
export type Document = {
  readonly info: { readonly description: string }
  readonly servers: readonly object[]
  readonly tags: readonly { readonly name: string; readonly description?: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly webhooks: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly responses: Readonly<Record<string, DocumentedResponse>>
    readonly headers: Readonly<Record<string, { readonly description: string }>>
    readonly schemas: Readonly<Record<string, object>>
    readonly securitySchemes: object
  }
}

/** `name` is method and path. References are resolved. */
export type Route = Operation & { readonly name: string; readonly method: string; readonly path: string }

export function routesOf(document: Document): readonly Route[] {
  const { paths } = resolved(document, document) as Document
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      name: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      path,
    })),
  )
}

/** Replaces each reference by what it refers to; what is beside it wins. */
function resolved(part: unknown, document: object): unknown {
  if (Array.isArray(part)) return part.map((each) => resolved(each, document))
  if (typeof part !== 'object' || part === null) return part
  const { $ref, ...rest } = part as { readonly $ref?: unknown }
  const copy = Object.fromEntries(Object.entries(rest).map(([name, each]) => [name, resolved(each, document)]))
  if (typeof $ref !== 'string') return copy
  const path = $ref.split('/').slice(1)
  const target = path.reduce<unknown>((outer, name) => new Map(Object.entries(outer ?? {})).get(name), document)
  return { ...(resolved(target, document) as object), ...copy }
}

/** One `example`, or named `examples`. */
export function examplesOf({ example, examples = {} }: Content): readonly unknown[] {
  const named = Object.values(examples).map(({ value }) => value)
  return example === undefined ? named : [example, ...named]
}

/** Compiled validators, because the same schemas repeat. */
const validators = new Map<string, Validator>()

/** @returns the schema violations of a value; undocumented fields count as one */
export function schemaErrors(schema: TSchema, value: unknown): readonly unknown[] {
  const text = JSON.stringify(schema)
  const validator = validators.get(text) ?? Compile(withoutAdditional(schema) as TSchema)
  validators.set(text, validator)
  return validator.Errors(value)
}

/** The same schema without additional properties, except where it only narrows another one. */
function withoutAdditional(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutAdditional)
  if (typeof schema !== 'object' || schema === null) return schema
  const parts = Object.fromEntries(Object.entries(schema).map(([name, part]) => [name, withoutAdditional(part)]))
  return 'properties' in schema && !('unevaluatedProperties' in schema)
    ? { additionalProperties: false, ...parts }
    : parts
}

export type ReceivedResponse = { readonly status: number; readonly headers: Headers; readonly body: unknown }

/** Headers for servers and browsers, not for clients of the API. */
const technicalHeaders =
  /^(access-control-.*|cache-control|connection|content-.*|cross-origin-.*|date|keep-alive|origin-agent-cluster|referrer-policy|strict-transport-security|vary|x-(content-type-options|dns-prefetch-control|download-options|frame-options|permitted-cross-domain-policies|xss-protection))$/

/** The beginning of a body, for assertion messages. */
export const shown = (body: unknown): string => JSON.stringify(body).slice(0, 300)

/** Fails when the response has an undocumented status, header or field. */
export function assertAsDocumented(
  t: Test,
  { name, responses }: Route,
  { status, headers, body }: ReceivedResponse,
): void {
  const described = responses[status]
  if (!described) return void t.fail(`${name}: ${status} is not documented: ${shown(body)}`)
  const [type = ''] = (headers.get('content-type') ?? '').split(';')
  const content = described.content?.[type]
  if (!content) return void t.fail(`${name}: ${status} is not documented as ${type}`)
  t.same(schemaErrors(content.schema, body), [], `${name}: ${status} ${shown(body)}`)
  const known = new Set(Object.keys(described.headers ?? {}).map((header) => header.toLowerCase()))
  const unknown = [...headers.keys()].filter((header) => !known.has(header) && !technicalHeaders.test(header))
  t.same(unknown, [], `${name}: headers of ${status}`)
}

export type Caller = {
  readonly name: string
  /** The security scheme, or undefined for an anonymous caller. */
  readonly scheme: 'session' | 'guest' | undefined
  readonly headers: Readonly<Record<string, string>>
}

export type Sent = {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | undefined
  readonly query?: string
}
export type Send = (route: Route, caller: Caller, id: string | undefined, sent?: Sent) => Promise<ReceivedResponse>

export const sender =
  (baseUrl: string): Send =>
  async ({ method, path }, caller, id, { headers = {}, body, query = '' } = {}) => {
    const url = `${baseUrl}${path
      .replace('{id}', id ?? 'no-id')
      .replace('{name}', 'payments')
      .replace('{month}', '2026-01')
      .replace('{endpoint}', '1')}${query}`
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const response = await fetch(url, {
      method,
      headers: { ...type, ...caller.headers, ...headers },
      ...(body !== undefined && { body }),
      signal: AbortSignal.timeout(30_000),
    })
    const isJson = response.headers.get('content-type')?.startsWith('application/json')
    return {
      status: response.status,
      headers: response.headers,
      body: isJson ? await response.json() : await response.text(),
    }
  }

/** Whether the route accepts this kind of caller. A route without security needs an anonymous caller. */
export function isFor({ security }: Route, { scheme }: Caller): boolean {
  if (security.length === 0) return scheme === undefined
  return security.some((accepted) => (scheme === undefined ? Object.keys(accepted).length === 0 : scheme in accepted))
}

export const idOf = ({ body }: ReceivedResponse): string | undefined => {
  const data = typeof body === 'object' && body !== null && 'data' in body ? body.data : undefined
  return typeof data === 'object' && data !== null && 'id' in data ? String(data.id) : undefined
}

/** Every example body as JSON, or one undefined for a route without. */
export function bodiesOf({ requestBody }: Route): readonly (string | undefined)[] {
  const bodies = Object.values(requestBody?.content ?? {}).flatMap(examplesOf)
  return bodies.length === 0 ? [undefined] : bodies.map((body) => JSON.stringify(body))
}

/** Queries with one parameter each and a valid value. */
export function queriesOf({ parameters = [] }: Route): readonly string[] {
  const inQuery = parameters.filter(({ in: where, name }) => where === 'query' && name !== 'token')
  return inQuery.flatMap((parameter) =>
    valuesOf(parameter).map((value) => `?${parameter.name}=${encodeURIComponent(String(value))}`),
  )
}

function valuesOf({ example, schema }: Parameter): readonly unknown[] {
  if (example !== undefined) return [example]
  if (schema.enum) return schema.enum
  if (schema.format === 'date-time') return [new Date().toISOString()]
  return [schema.type === 'integer' ? (schema.minimum ?? 1) : 'example']
}

/** A fresh Idempotency-Key for routes that take one. */
export const repeatable = (route: Route): Readonly<Record<string, string>> =>
  route.parameters?.some(({ name }) => name === 'idempotency-key') ? { 'idempotency-key': randomUUID() } : {}

export type Schema = {
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly minimum?: number
  readonly maximum?: number
  readonly default?: unknown
  readonly items?: object
  readonly anyOf?: readonly Schema[]
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
}

/** @returns name and type of each field, sorted; null is ignored */
export const fieldsOf = ({ properties = {} }: Schema): readonly string[] =>
  Object.entries(properties)
    .map(([name, schema]) => `${name} ${typeOf(schema)}`)
    .sort()

function typeOf({ type = [], anyOf = [], properties }: Schema): string {
  const types = new Set([type, anyOf.map(typeOf)].flat().filter((each) => !['', 'null'].includes(each)))
  return types.size === 0 && properties ? 'object' : [...types].join('|')
}
