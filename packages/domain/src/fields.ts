// Field schemas that several resources share. Times are ISO 8601 in UTC, ids are UUIDs, text is bounded.
import { type Static, type TObject, type TSchema, Type } from 'typebox'

export const maxTextLength = 255
const maxLongTextLength = 2000

export const Id = Type.String({ format: 'uuid' })
const idPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Normalises an id to the lower case in which we record it; `null` when it is not a UUID. */
export function recordedId(text: string): string | null {
  return idPattern.test(text) ? text.toLowerCase() : null
}

export const Instant = Type.String({ format: 'date-time' })
export const Text = Type.String({ maxLength: maxTextLength })
export const RequiredText = Type.String({ minLength: 1, maxLength: maxTextLength })
export const LongText = Type.String({ maxLength: maxLongTextLength })
/** What people type as an e-mail. Their own one is taken as their credential states it: `StatedEmail`. */
export const Email = Type.String({ format: 'email', maxLength: maxTextLength })
/**
 * An e-mail as the identity backend or a provider states it, in any form: not blank, and without the control
 * characters and unpaired surrogates that Postgres cannot store.
 */
export const StatedEmail = Type.String({
  pattern: /^(?=.*\S)[^\p{Cc}\p{Cs}]+$/u,
  maxLength: maxTextLength,
})

/**
 * An object with any keys, stored unchanged. Not `Type.Record`, whose key pattern does not match line breaks: a serialiser
 * would drop such keys.
 */
export const ClientObject = (options: { readonly maxProperties?: number; readonly description?: string } = {}) =>
  Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object', additionalProperties: true, ...options })

/** A required field that may be null. */
export const Nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])

/** An object with these fields, for several with the same schema or value. The cast names what `fromEntries` loses. */
export const fieldsOf = <Name extends string, Value>(names: readonly Name[], fieldOf: (name: Name) => Value) =>
  Object.fromEntries(names.map((name) => [name, fieldOf(name)])) as Record<Name, Value>

/** Picks the fields that a schema names. The cast names what `fieldsOf` loses. */
export const pick = <Schema extends TObject>(schema: Schema, from: Static<Schema> & object) =>
  fieldsOf(Object.keys(schema.properties), (name) => Reflect.get(from, name)) as Static<Schema>

/** Maps each field of an object. The cast names what `keys` loses. */
export const mapFields = <Name extends string, Value, Result>(
  fields: Readonly<Record<Name, Value>>,
  map: (value: Value, name: Name) => Result,
) => fieldsOf(Object.keys(fields) as Name[], (name) => map(fields[name], name))

/** The fields with another value in `after`; one that is undefined there stays as it is. */
export function differing<Content extends object>(before: Content, after: Partial<Content>): Partial<Content> {
  const changes: Partial<Content> = {}
  for (const field in after)
    if (after[field] !== undefined && after[field] !== before[field]) changes[field] = after[field]
  return changes
}
