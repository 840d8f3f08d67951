// Stripe's field formats: amounts, whose decimals differ from ISO 4217 for some currencies, and references.
// https://docs.stripe.com/currencies

import { currencyExponent } from '@paylog/domain/currency'
import { DomainError } from '@paylog/domain/errors'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Code, paymentIdFrom } from '../fields.ts'
import { codeAt, unitsAt, valueAt } from '../lenient.ts'

const zeroDecimal = new Set('BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF'.split(' '))
const threeDecimal = new Set('BHD JOD KWD OMR TND'.split(' '))
/** Currencies with known differences from ISO: ISK and UGX have no decimals but are written with two; MGA has two. */
const otherThanIso = new Set('ISK UGX MGA'.split(' '))

/** Stripe's maximum for cards. Stripe itself checks the limits of each payment method. */
const maxAmount = 999_999_999_999

/** @throws DomainError `currency_not_supported` when the amount cannot be expressed at Stripe */
export function checkStripeAmount(amount_cents: number, currency: string): void {
  if (toStripeAmount(amount_cents, currency) === null)
    throw new DomainError('currency_not_supported', 'Stripe does not accept this amount in this currency', {
      provider_id: 'stripe',
      currency,
      amount_cents,
    })
}

/**
 * Converts an amount to Stripe's integer.
 * @param amount_cents in ISO's minor units
 * @param currency upper case
 * @returns `null` when Stripe cannot express it
 */
export function toStripeAmount(amount_cents: number, currency: string): number | null {
  const amount = scaled(amount_cents, stripeExponent(currency) - currencyExponent(currency))
  return amount !== null && isWritable(amount, currency) ? amount : null
}

/**
 * Converts Stripe's amount to ISO's minor units.
 * @param currency in any case
 * @returns `null` for a fraction of the minor unit, which Stripe does not charge
 */
export function fromStripeAmount(amount: number, currency: string): number | null {
  const code = currency.toUpperCase()
  return scaled(amount, currencyExponent(code) - stripeExponent(code))
}

function isWritable(amount: number, currency: string): boolean {
  const isKnown = currencyExponent(currency) === stripeExponent(currency) || otherThanIso.has(currency)
  // Stripe supports only two of the three decimals.
  return isKnown && amount <= maxAmount && (!threeDecimal.has(currency) || amount % 10 === 0)
}

function stripeExponent(currency: string): number {
  if (zeroDecimal.has(currency)) return 0
  return threeDecimal.has(currency) ? 3 : 2
}

function scaled(amount: number, decimals: number): number | null {
  if (decimals >= 0) return amount * 10 ** decimals
  const unit = 10 ** -decimals
  return amount % unit === 0 ? amount / unit : null
}

export const CurrencyCode = Type.String({ pattern: '^[A-Za-z]{3}$' })

/** Another object: its id, or the expanded object. */
export const Reference = Type.Union([Code, Type.Object({ id: Code })])

const currency = Compile(CurrencyCode)

export type StripeObject = Readonly<Record<string, unknown>>

/** The id of a referenced object, expanded or not. */
export function idIn(value: unknown): string | null {
  return codeAt(value) ?? codeAt(value, 'id')
}

/** The payment that an object's metadata names. */
export function paymentIdIn(object: unknown): string | null {
  return paymentIdFrom(valueAt(object, 'metadata', 'payment_id'))
}

/** Upper case. */
export function currencyIn(value: unknown): string | null {
  return currency.Check(value) ? value.toUpperCase() : null
}

/** An amount in ISO's minor units, and its currency; the amount is `null` without a valid currency. */
export function moneyIn(
  amount: unknown,
  code: unknown,
): { readonly amount_cents: number | null; readonly currency: string | null } {
  const [units, currency] = [unitsAt(amount), currencyIn(code)]
  return { amount_cents: units === null || currency === null ? null : fromStripeAmount(units, currency), currency }
}
