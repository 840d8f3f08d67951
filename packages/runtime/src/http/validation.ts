// Validates requests: HTTP headers, and parameters and bodies against TypeBox schemas.
import { cardNumberError, findCardData } from '@paylog/domain/cardNumber'
import { DomainError } from '@paylog/domain/errors'
import type { FastifyRequest, FastifySchemaCompiler } from 'fastify'
import { type Static, type TSchema, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import type { TLocalizedValidationError } from 'typebox/error'
import { Settings } from 'typebox/system'
import { isChanging, unknownFields, withoutUnchangeable } from './unknownFields.ts'

/**
 * Rejects requests that a proxy in front could interpret differently, or that expect unsupported features (RFC 9112).
 * @param request with repeated headers joined by commas
 * @throws DomainError `invalid_request`
 */
export function validateHeaders({ headers, raw }: FastifyRequest): void {
  const { host, expect } = headers
  const encoding = headers['transfer-encoding']
  if (raw.httpVersion !== '1.1' && raw.httpVersion !== '1.0') throw invalidHeader('Only HTTP/1.1 is supported')
  if (host === undefined && raw.httpVersion === '1.1') throw invalidHeader('The Host header is required')
  if (host !== undefined && !/^[^\s,/?#@]*$/.test(host)) throw invalidHeader('The Host header is invalid')
  if (encoding !== undefined && encoding.toLowerCase() !== 'chunked')
    throw invalidHeader('Transfer-Encoding must be chunked')
  if (expect !== undefined && expect.toLowerCase() !== '100-continue')
    throw invalidHeader('Expect must be 100-continue')
}

function invalidHeader(message: string): DomainError {
  return new DomainError('invalid_request', message)
}

const maxDetails = 20
// An invalid enum value has an error per alternative, so TypeBox's limit of 8 would hide errors of other fields.
Settings.Set({ maxErrors: 200 })

/**
 * Builds a route's validators. Bodies are never coerced. Query, path and header values are text, so numbers, booleans and
 * single-valued lists are converted and defaults filled in. A failure is `invalid_request` with `details.fields`, a list of
 * `{ field, message }` that never repeats the value.
 *
 * A field that a body's schema does not know is a failure, and so is a parameter of a query that changes something; other
 * unknown parameters are dropped. If nothing but unknown fields is wrong with a body, card data in it comes first, which
 * is `card_number_rejected`: that a client sends it at all is worse than where.
 */
export const validatorCompiler: FastifySchemaCompiler<TSchema> = ({ schema, httpPart, method }) => {
  if (httpPart === 'body') return bodyValidator(schema)
  const validator = Compile(schema)
  const decode = textDecoder(schema, httpPart)
  const isStrict = httpPart === 'querystring' && isChanging(method)
  return (input: unknown) => {
    const value = decode(input)
    const unknown = isStrict ? unknownParameters(schema, input) : []
    if (unknown.length === 0 && validator.Check(value)) return { value }
    const invalid = fieldsOf(validator.Errors(value), repeatedIn(schema, input, httpPart))
    return { error: invalidInput(httpPart, [...unknown, ...invalid].slice(0, maxDetails)) }
  }
}

export type FieldProblem = { readonly field: string; readonly message: string }

/**
 * For a route whose bodies have rules beyond their schema. One response reports the violations of both.
 * @param rules returns the problems of a body, before its schema is checked
 */
export const validatorWithRules =
  (rules: (body: unknown) => readonly FieldProblem[]): FastifySchemaCompiler<TSchema> =>
  (route) =>
    route.httpPart === 'body' ? bodyValidator(route.schema, rules) : validatorCompiler(route)

/**
 * Validates values from other sources like the bodies of a route with this schema.
 * @returns a function that throws DomainError `invalid_request` or `card_number_rejected` as above
 */
export function bodyReader<Schema extends TSchema>(schema: Schema): (input: unknown) => Static<Schema> {
  const validate = bodyValidator(schema)
  return (input) => {
    const { value, error } = validate(input)
    if (error) throw error
    return value
  }
}

type ValidatedBody<Schema extends TSchema> =
  | { readonly value: Static<Schema>; readonly error?: never }
  | { readonly value?: never; readonly error: DomainError }

function bodyValidator<Schema extends TSchema>(
  schema: Schema,
  rules: (body: unknown) => readonly FieldProblem[] = () => [],
): (input: unknown) => ValidatedBody<Schema> {
  const validator = Compile(schema)
  return (input) => {
    const value = withoutUnchangeable(schema, input)
    const isValid = validator.Check(value)
    const invalid = [...(isValid ? [] : fieldsOf(validator.Errors(value))), ...rules(input)]
    const unknown = unknownFields(schema, input)
    if (isValid && invalid.length + unknown.length === 0) return { value }
    const card = invalid.length === 0 ? findCardData(input) : null
    if (card !== null) return { error: cardNumberError(card) }
    const found = [...unknown, ...invalid]
    // Keeps the first problem of each field.
    const problems = found.filter(({ field }, index) => found.findIndex((each) => each.field === field) === index)
    return { error: invalidInput('body', problems.slice(0, maxDetails)) }
  }
}

/** The query parameters that hold a credential of any route (interface, section 5). */
const credentialParameters: ReadonlySet<string> = new Set(['session_id', 'token'])

const unknownParameters = (schema: TSchema, input: unknown): readonly FieldProblem[] =>
  unknownFields(schema, input).filter(({ field }) => !credentialParameters.has(field))

function textDecoder(schema: TSchema, httpPart: string | undefined): (input: unknown) => unknown {
  if (!Type.IsObject(schema)) return (input) => input
  const properties = Object.entries(schema.properties)
  const names = Object.fromEntries(properties)
  const defaults = Object.fromEntries(
    properties.flatMap(([name, property]) => ('default' in property ? [[name, property.default]] : [])),
  )
  return (input) => {
    if (typeof input !== 'object' || input === null) return input
    // Keep unknown headers, because other code reads them from the same object.
    const value: Record<string, unknown> = httpPart === 'headers' ? { ...input } : { ...defaults }
    for (const [name, raw] of Object.entries(input)) {
      const property = Object.hasOwn(names, name) ? names[name] : undefined
      if (property !== undefined && raw !== undefined) value[name] = convert(property, raw)
    }
    return value
  }
}

// Stricter than Value.Convert, which turns 1.9 into 1 and uses the first of repeated parameters.
function convert(schema: TSchema, raw: unknown): unknown {
  if (Type.IsArray(schema)) {
    const list: unknown[] = Array.isArray(raw) ? raw : [raw]
    return list.map((item) => convert(schema.items, item))
  }
  if (typeof raw !== 'string') return raw
  if (Type.IsInteger(schema)) return /^-?\d{1,15}$/.test(raw) ? Number(raw) : raw
  if (Type.IsNumber(schema)) return /^-?\d{1,15}(\.\d{1,15})?$/.test(raw) ? Number(raw) : raw
  if (Type.IsBoolean(schema) && (raw === 'true' || raw === 'false')) return raw === 'true'
  // %00 decodes to NUL, which Postgres does not accept in text; null fits no text schema.
  return raw.includes('\0') ? null : raw
}

const partNames: Readonly<Record<string, string>> = {
  body: 'The body is',
  querystring: 'The query is',
  params: 'The path is',
  headers: 'The headers are',
}

/** Single-valued query parameters that were sent several times. */
function repeatedIn(schema: TSchema, input: unknown, httpPart: string | undefined): readonly string[] {
  if (httpPart !== 'querystring' || !Type.IsObject(schema) || typeof input !== 'object' || input === null) return []
  const isRepeated = ([name, value]: [string, unknown]) => {
    const property = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined
    return Array.isArray(value) && property !== undefined && !Type.IsArray(property)
  }
  return Object.entries(input)
    .filter(isRepeated)
    .map(([name]) => name)
}

function fieldsOf(errors: readonly TLocalizedValidationError[], repeated: readonly string[] = []): FieldProblem[] {
  const messages = new Map<string, Set<string>>()
  for (const error of errors) {
    for (const { field, message } of explain(error)) {
      if (!messages.has(field) && messages.size === maxDetails) continue
      messages.set(field, (messages.get(field) ?? new Set()).add(message))
    }
  }
  return [...messages].map(([field, alternatives]) => ({
    field,
    message: repeated.includes(field) ? 'must be given only once' : oneSentence([...alternatives]),
  }))
}

/** @param httpPart where the fields are: `body`, `querystring`, `params` or `headers` */
export function invalidInput(httpPart: string | undefined, fields: readonly FieldProblem[]): DomainError {
  const [first] = fields
  const reason = first === undefined ? '' : `: ${first.field || 'it'} ${first.message}`
  return new DomainError('invalid_request', `${partNames[httpPart ?? ''] ?? 'The request is'} invalid${reason}`, {
    fields,
  })
}

/** Joins the messages of alternatives: `must be "a" or "b"`. */
function oneSentence(alternatives: readonly string[]): string {
  const areAlike = alternatives.every((each) => each.startsWith('must be '))
  return areAlike ? `must be ${alternatives.map((each) => each.slice(8)).join(' or ')}` : alternatives.join(' or ')
}

const formats: Readonly<Record<string, string>> = {
  'date-time': 'must be a time with an offset, such as 2026-01-31T12:00:00Z',
  date: 'must be a day, such as 2026-01-31',
  email: 'must be an e-mail address',
  uuid: 'must be a UUID',
}

function explain(error: TLocalizedValidationError): { field: string; message: string }[] {
  const field = error.instancePath.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~')
  switch (error.keyword) {
    case 'required':
      return error.params.requiredProperties.map((name) => ({
        field: field === '' ? name : `${field}.${name}`,
        message: 'is required',
      }))
    case 'const':
      return [{ field, message: `must be ${JSON.stringify(error.params.allowedValue)}` }]
    case 'enum':
      return [
        { field, message: `must be ${error.params.allowedValues.map((value) => JSON.stringify(value)).join(' or ')}` },
      ]
    case 'minProperties':
      return [{ field, message: 'must have at least one field to change' }]
    case 'format':
      return [{ field, message: formats[error.params.format] ?? error.message }]
    case 'anyOf':
    case 'oneOf':
      // The errors of the alternatives, which are reported too, are more specific.
      return []
    default:
      return [{ field, message: error.message }]
  }
}
