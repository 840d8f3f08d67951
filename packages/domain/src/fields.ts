// The field schemas that several resources share. Times are ISO 8601 in UTC, ids are UUIDs, text is bounded.
import { type TSchema, Type } from 'typebox'

export const maxTextLength = 255
const maxLongTextLength = 2000

export const Id = Type.String({ format: 'uuid' })
const idPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** An id as it is recorded, from what a client wrote in any case; `null` for what is no id. */
export function recordedId(text: string): string | null {
  return idPattern.test(text) ? text.toLowerCase() : null
}

export const Instant = Type.String({ format: 'date-time' })
export const Text = Type.String({ maxLength: maxTextLength })
export const RequiredText = Type.String({ minLength: 1, maxLength: maxTextLength })
export const LongText = Type.String({ maxLength: maxLongTextLength })
export const Email = Type.String({ format: 'email', maxLength: maxTextLength })

/**
 * An object of the client's own, kept as it came. Not `Type.Record`, whose pattern for keys leaves out those with line
 * breaks: a serialiser that follows it would drop them.
 */
export const ClientObject = (options: { readonly maxProperties?: number; readonly description?: string } = {}) =>
  Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object', additionalProperties: true, ...options })

/** A field that is always there and may hold nothing. */
export const Nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])
