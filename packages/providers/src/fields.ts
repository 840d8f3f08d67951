// The fields that providers' notifications and answers are made of.

import { DomainError } from '@paylog/domain/errors'
import { type TSchema, Type } from 'typebox'

/** Printable ASCII: ids and codes end in stream names, tables and webhooks, where control characters do harm. */
export const Code = Type.String({ pattern: '^[\\x20-\\x7e]+$', maxLength: 200 })
/** An integer in whatever unit the provider counts in. */
export const Amount = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
/** In seconds, up to the last one that ISO 8601 writes with four digits for the year. */
export const UnixTime = Type.Integer({ minimum: 0, maximum: 253_402_300_799 })

/** A field that may be left out, and may be `null`. */
export const maybe = <Schema extends TSchema>(schema: Schema) => Type.Optional(Type.Union([schema, Type.Null()]))

// The JSON that a notification's bytes are.

/**
 * What is not quite JSON in UTF-8 is refused and not repaired, a byte order mark before it included.
 * @returns the text to the byte, and what it says
 * @throws DomainError `invalid_request`
 */
export function notificationJson(body: Buffer): { readonly text: string; readonly json: unknown } {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body)
    return { text, json: JSON.parse(text) }
  } catch (cause) {
    throw new DomainError('invalid_request', 'The body is not JSON', undefined, { cause })
  }
}
