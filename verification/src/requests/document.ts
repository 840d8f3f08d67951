// The OpenAPI document as generator and judge need it: routes without references, and validators.
import type { ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'

export type Schema = {
  readonly [Keyword in 'format' | 'pattern']?: string
} & {
  readonly [Keyword in 'minimum' | 'maximum' | 'minLength' | 'maxLength' | 'minItems' | 'maxItems']?: number
} & {
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
}
export type Parameter = {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly schema: Schema
}
type Content = Readonly<
  Record<string, { readonly schema: Schema; readonly example?: unknown; readonly examples?: object }>
>
type Operation = {
  readonly parameters?: readonly Parameter[]
  readonly security: readonly object[]
  readonly requestBody?: { readonly required?: boolean; readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly content: Content }>>
}
type Document = {
  readonly components: { readonly schemas: { readonly ErrorResponse: Schema } }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}
export type Route = {
  /** Method and path. */
  readonly name: string
  readonly method: string
  readonly path: string
  readonly parameters: readonly Parameter[]
  readonly security: readonly object[]
  readonly isBodyRequired: boolean
  readonly body: Schema | undefined
  readonly examples: readonly unknown[]
  /** By status and content type, `200 application/json`. Undocumented properties are errors. */
  readonly responses: ReadonlyMap<string, ValidateFunction>
}

const ajv = new Ajv2020({ strict: false, logger: false })
formats.default(ajv)
const compiled = new Map<string, ValidateFunction>()

/** Equal schemas share a validator, because most of them are those of many routes. */
export function validatorOf(schema: Schema): ValidateFunction {
  const text = JSON.stringify(schema)
  const validator = compiled.get(text) ?? ajv.compile(schema)
  compiled.set(text, validator)
  return validator
}

/** @returns the routes, and the validator of the body of every error */
export function readDocument(document: object): {
  readonly routes: readonly Route[]
  readonly isError: ValidateFunction
} {
  const { paths, components } = withoutReferences(document, document) as Document
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => routeOf(method.toUpperCase(), path, operation)),
  )
  return { routes, isError: validatorOf(closed(components.schemas.ErrorResponse)) }
}

function routeOf(method: string, path: string, operation: Operation): Route {
  const { parameters = [], security, requestBody, responses } = operation
  const { schema, example, examples = {} } = requestBody?.content['application/json'] ?? {}
  const validators = Object.entries(responses).flatMap(([status, { content }]) =>
    Object.entries(content).map(([type, body]) => [`${status} ${type}`, validatorOf(closed(body.schema))] as const),
  )
  return {
    ...{ name: `${method} ${path}`, method, path, parameters, security, body: schema },
    isBodyRequired: requestBody?.required ?? false,
    examples: example === undefined ? Object.values(examples).map(({ value }) => value) : [example],
    responses: new Map(validators),
  }
}

/** Replaces each reference by what it refers to; what is beside it wins. */
function withoutReferences(part: unknown, document: object): unknown {
  if (Array.isArray(part)) return part.map((each) => withoutReferences(each, document))
  if (typeof part !== 'object' || part === null) return part
  const { $ref, ...rest } = part as { readonly $ref?: unknown }
  const copy = Object.fromEntries(Object.entries(rest).map(([name, each]) => [name, withoutReferences(each, document)]))
  if (typeof $ref !== 'string') return copy
  const names = $ref.split('/').slice(1)
  const target = names.reduce<unknown>((outer, name) => Object(outer)[name], document)
  return { ...Object(withoutReferences(target, document)), ...copy }
}

/** The schema without undocumented properties, except where it only narrows another one. */
function closed<Part>(part: Part): Part {
  if (Array.isArray(part)) return part.map(closed) as Part
  if (typeof part !== 'object' || part === null) return part
  const copy = Object.fromEntries(Object.entries(part).map(([name, each]) => [name, closed(each)]))
  const isClosed = 'properties' in part && !('unevaluatedProperties' in part)
  return (isClosed ? { additionalProperties: false, ...copy } : copy) as Part
}
