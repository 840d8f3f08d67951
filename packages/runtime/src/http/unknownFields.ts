// Closed requests: finds the fields that a schema does not know, and the known ones that were probably meant.
import { hasCardNumber } from '@paylog/domain/cardNumber'
import type { FastifyInstance } from 'fastify'
import { type TObject, type TProperties, type TSchema, Type } from 'typebox'
import { unused } from './openApiSchemas.ts'

type UnknownField = { readonly field: string; readonly message: string }
type ObjectSchema = { readonly properties: Readonly<Record<string, TSchema>> }

const changingMethods: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

/** Whether requests with this method, or one of these, change something. Others ignore unknown parameters. */
export const isChanging = (methods: string | readonly string[]) =>
  [methods].flat().some((method) => changingMethods.has(method))

const noFields = Type.Union([Type.Object({}), Type.Null()], unused)
const noParameters = Type.Object({})

/**
 * Gives routes that change something a schema for body and query where they have none, so that whatever is sent there is
 * unknown. The receivers of providers take what is signed. Must be called before routes are registered.
 */
export function closeRequests(http: FastifyInstance): void {
  http.addHook('onRoute', (route) => {
    const isOpen = route.config?.callers === 'providers' || !isChanging(route.method)
    // Without a schema nothing is validated. Every route of the API has one.
    if (!isOpen && route.schema) route.schema = { body: noFields, querystring: noParameters, ...route.schema }
  })
}

/**
 * Properties for the schema of a change: the fields that a client may send back with a resource and that cannot be changed.
 * Validation drops them.
 * @param changeable the fields that can be changed
 * @param known the resource, and what it is created from
 */
export function unchangeable(changeable: TProperties, ...known: readonly TObject[]): object {
  const names = known.flatMap(({ properties }) => Object.keys(properties)).filter((name) => !(name in changeable))
  return Object.fromEntries(names.map((name) => [name, sentBack]))
}

const sentBack = Type.Optional(Type.Unknown({ readOnly: true, description: 'Cannot be changed here; ignored' }))
const isSentBack = (schema: TSchema | undefined) => schema !== undefined && 'readOnly' in schema && schema.readOnly

/** The body without the fields that its schema has only because clients send them back. */
export function withoutUnchangeable(schema: TSchema, input: unknown): unknown {
  if (!isClosed(schema) || !isRecord(input) || !Object.values(schema.properties).some(isSentBack)) return input
  return Object.fromEntries(Object.entries(input).filter(([name]) => !isSentBack(propertyOf(schema, name))))
}

/** Objects with named fields are closed; those without, or with `additionalProperties`, take any. */
function isClosed(schema: object): schema is ObjectSchema {
  return 'properties' in schema && !('additionalProperties' in schema)
}

/** @returns the same schema, in which the closed objects say so: for the document */
export function closedSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closedSchema)
  if (!isRecord(schema)) return schema
  const parts = Object.entries(schema).map(([keyword, part]) => [keyword, closedPart(keyword, part)])
  return { ...Object.fromEntries(parts), ...(isClosed(schema) && { additionalProperties: false }) }
}

function closedPart(keyword: string, part: unknown): unknown {
  if (keyword === 'items' || keyword === 'anyOf') return closedSchema(part)
  if (keyword !== 'properties' || !isRecord(part)) return part
  return Object.fromEntries(Object.entries(part).map(([name, property]) => [name, closedSchema(property)]))
}

const maxFields = 20
const maxShownLength = 64
/** How a response names what a client sent: its name may be as long as the body, or a card number. */
const shownName = (name: string) => (hasCardNumber(name) ? '(a card number)' : name.slice(0, maxShownLength))

/** @returns the first fields that the schema does not know, at any depth, with what was probably meant */
export function unknownFields(schema: TSchema, input: unknown, path: readonly string[] = []): UnknownField[] {
  const [alternative] = alternativesOf(schema, input)
    .map((each) => fieldsUnknownTo(each, input, path))
    .toSorted((a, b) => a.length - b.length)
  return alternative ?? []
}

/** The alternatives that take objects for an object, and those that take lists for a list. */
function alternativesOf(schema: TSchema, input: unknown): readonly TSchema[] {
  if (Type.IsUnion(schema)) return schema.anyOf.flatMap((each) => alternativesOf(each, input))
  const type = Array.isArray(input) ? 'array' : isRecord(input) ? 'object' : undefined
  return 'type' in schema && schema.type === type ? [schema] : []
}

function fieldsUnknownTo(schema: TSchema, input: unknown, path: readonly string[]): UnknownField[] {
  if (!Type.IsArray(schema) && !isClosed(schema)) return []
  const found: UnknownField[] = []
  for (const [name, value] of Object.entries(Object(input))) {
    const inner = [...path, shownName(name)]
    const known = Type.IsArray(schema) ? schema.items : propertyOf(schema, name)
    if (known !== undefined) found.push(...unknownFields(known, value, inner))
    else if (!Type.IsArray(schema)) found.push({ field: inner.join('.'), message: unknownHere(name, namesOf(schema)) })
    if (found.length >= maxFields) break
  }
  return found.slice(0, maxFields)
}

/** Not a member of every object, such as `constructor`. */
function propertyOf({ properties }: ObjectSchema, name: string): TSchema | undefined {
  return Object.hasOwn(properties, name) ? properties[name] : undefined
}

const namesOf = ({ properties }: ObjectSchema) =>
  Object.keys(properties).filter((name) => !isSentBack(properties[name]))

/** @param known the names that could have been meant */
function unknownHere(name: string, known: readonly string[]): string {
  const meant = nearestName(name.slice(0, maxShownLength), known)
  return meant === undefined ? 'is unknown here' : `is unknown here; did you mean \`${meant}\`?`
}

/** The known name that differs least, or else the only one that has a word in common: `total_cents` is near `amount_cents`. */
function nearestName(name: string, known: readonly string[]): string | undefined {
  const [nearest] = known
    .filter((each) => isNear(plain(name), plain(each)))
    .toSorted((a, b) => editDistance(plain(name), plain(a)) - editDistance(plain(name), plain(b)))
  if (nearest !== undefined) return nearest
  const words = wordsOf(name)
  const related = known.filter((each) => wordsOf(each).some((word) => words.some((other) => isNear(other, word))))
  return related.length === 1 ? related[0] : undefined
}

const plain = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
/** Without short ones such as `id` and `is`, which say too little. */
const wordsOf = (name: string) =>
  name
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_')
    .toLowerCase()
    .match(/[a-z0-9]{3,}/g) ?? []

/** At most two edits, and at most one in three characters. */
const isNear = (a: string, b: string) => editDistance(a, b) <= Math.min(2, Math.floor(b.length / 3))

/** How many characters have to be added, removed, replaced or swapped with the next one (optimal string alignment). */
function editDistance(a: string, b: string): number {
  const [from, to] = [[...a], [...b]]
  let before: number[] = []
  let distances = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (const [row, character] of from.entries()) {
    const next = [row + 1]
    for (const [column, other] of to.entries()) {
      const [left = 0, above = 0, diagonal = 0] = [next[column], distances[column + 1], distances[column]]
      const isSwapped = row > 0 && character === to[column - 1] && other === from[row - 1]
      const swapped = isSwapped ? (before[column - 1] ?? 0) + 1 : Number.POSITIVE_INFINITY
      next.push(Math.min(left + 1, above + 1, diagonal + (character === other ? 0 : 1), swapped))
    }
    before = distances
    distances = next
  }
  return distances.at(-1) ?? 0
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
