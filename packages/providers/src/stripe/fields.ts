// The fields that Stripe's objects are made of, and a lenient look at those that nothing depends on.
import { Email } from '@paylog/domain/fields'
import { type TSchema, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Amount, Code, UnixTime } from '../fields.ts'
import { fromStripeAmount } from './amounts.ts'

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

/** An amount in ISO's minor units, and its currency; an amount whose currency is not known is none. */
export function moneyIn(
  amount: unknown,
  code: unknown,
): { readonly amount_cents: number | null; readonly currency: string | null } {
  const [units, currency] = [amountIn(amount), currencyIn(code)]
  return { amount_cents: units === null || currency === null ? null : fromStripeAmount(units, currency), currency }
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
