// The fields that providers' notifications and answers are made of.
import { type TSchema, Type } from 'typebox'

/** Printable ASCII: ids and codes end in stream names, tables and webhooks, where control characters do harm. */
export const Code = Type.String({ pattern: '^[\\x20-\\x7e]+$', maxLength: 200 })
/** An integer in whatever unit the provider counts in. */
export const Amount = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
/** In seconds, up to the last one that ISO 8601 writes with four digits for the year. */
export const UnixTime = Type.Integer({ minimum: 0, maximum: 253_402_300_799 })

/** A field that may be left out, and may be `null`. */
export const maybe = <Schema extends TSchema>(schema: Schema) => Type.Optional(Type.Union([schema, Type.Null()]))
