// The fields that Stripe's objects are made of, and a lenient look at those that nothing depends on.
import { Email } from '@paylog/domain/fields'
import { type TSchema, Type } from 'typebox'
import { Compile } from 'typebox/compile'

/** Printable ASCII: ids and codes end in stream names, tables and webhooks, where control characters do harm. */
export const Code = Type.String({ pattern: '^[\\x20-\\x7e]+$', maxLength: 200 })
export const Amount = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
export const UnixTime = Type.Integer({ minimum: 0, maximum: 253_402_300_799 })
export const CurrencyCode = Type.String({ pattern: '^[A-Za-z]{3}$' })

/** A field that some versions of the API leave out and others fill with null. */
export const Maybe = <Schema extends TSchema>(schema: Schema) => Type.Optional(Type.Union([schema, Type.Null()]))

/** Another object: by its id, or written out. */
export const Reference = Type.Union([Code, Type.Object({ id: Code })])

const code = Compile(Code)
const amount = Compile(Amount)
const unixTime = Compile(UnixTime)
const currency = Compile(CurrencyCode)
const email = Compile(Email)

export type StripeObject = Readonly<Record<string, unknown>>

/** What is no object has no fields. */
export function objectIn(value: unknown): StripeObject {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

export function codeIn(value: unknown): string | null {
  return code.Check(value) ? value : null
}

/** The id of an object that is referred to, whether it is written out or not. */
export function idIn(value: unknown): string | null {
  return codeIn(value) ?? codeIn(objectIn(value).id)
}

export function amountIn(value: unknown): number | null {
  return amount.Check(value) ? value : null
}

/** Upper case. */
export function currencyIn(value: unknown): string | null {
  return currency.Check(value) ? value.toUpperCase() : null
}

export function emailIn(value: unknown): string | null {
  return email.Check(value) ? value : null
}

/** ISO 8601. */
export function timeIn(value: unknown): string | null {
  return unixTime.Check(value) ? isoTime(value) : null
}

export function isoTime(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toISOString()
}
