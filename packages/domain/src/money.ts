// Money: integers in minor units, ISO 4217 currencies, and the parts of an amount.
import { Type } from 'typebox'
import { DomainError } from './errors.ts'

export const maxAmountCents = 999_999_999_999

export const AmountCents = Type.Integer({ minimum: 0, maximum: maxAmountCents })

/** In requests; recorded in upper case. */
export const CurrencyCode = Type.String({ pattern: '^[A-Za-z]{3}$', description: 'ISO 4217 code, any case' })

/** Codes of funds, metals and tests, which payments cannot use. */
const notForPayments = new Set([
  'XAU',
  'XAG',
  'XPT',
  'XPD',
  'XDR',
  'XSU',
  'XUA',
  'XBA',
  'XBB',
  'XBC',
  'XBD',
  'XTS',
  'XXX',
])
/** The codes of the currencies that payments can use. */
export const currencies: readonly string[] = Intl.supportedValuesOf('currency').filter(
  (code) => !notForPayments.has(code),
)
const known: ReadonlySet<string> = new Set(currencies)

/** Whether payments can be made in this currency. @param code upper-case ISO 4217 */
export function isCurrency(code: string): boolean {
  return known.has(code)
}

/** `null` counts as missing. */
export type AmountParts = {
  readonly subtotal_cents?: number | null | undefined
  readonly tax_cents?: number | null | undefined
  readonly discount_cents?: number | null | undefined
  readonly total_cents?: number | null | undefined
}

export type Amounts = {
  readonly subtotal_cents: number
  readonly tax_cents: number
  readonly discount_cents: number
  readonly total_cents: number
}

/**
 * Completes the parts of an amount (minor units): `total = subtotal + tax - discount`. Derives a missing total or
 * subtotal; missing tax and discount are 0.
 * @throws DomainError `invalid_request` when neither total nor subtotal is given, `amount_inconsistent` when the parts
 *   do not add up or a derived part is negative or too large.
 */
export function resolveAmounts(parts: AmountParts): Amounts {
  const tax_cents = parts.tax_cents ?? 0
  const discount_cents = parts.discount_cents ?? 0
  const { subtotal_cents, total_cents } = completed(parts, tax_cents - discount_cents)
  const problem = inconsistency({ subtotal_cents, tax_cents, discount_cents, total_cents })
  if (problem !== undefined)
    throw new DomainError('amount_inconsistent', problem, { subtotal_cents, tax_cents, discount_cents, total_cents })
  return { subtotal_cents, tax_cents, discount_cents, total_cents }
}

function inconsistency({ subtotal_cents, tax_cents, discount_cents, total_cents }: Amounts): string | undefined {
  if (total_cents !== subtotal_cents + tax_cents - discount_cents)
    return 'total_cents must equal subtotal_cents + tax_cents - discount_cents'
  if (total_cents < 0) return 'discount_cents is more than subtotal_cents + tax_cents'
  if (subtotal_cents < 0) return 'tax_cents is more than total_cents + discount_cents'
  if (Math.max(total_cents, subtotal_cents) > maxAmountCents)
    return `subtotal_cents and total_cents must be at most ${maxAmountCents}`
  return undefined
}

/** @param extra total minus subtotal */
function completed({ subtotal_cents, total_cents }: AmountParts, extra: number) {
  if (typeof subtotal_cents === 'number') return { subtotal_cents, total_cents: total_cents ?? subtotal_cents + extra }
  if (typeof total_cents === 'number') return { subtotal_cents: total_cents - extra, total_cents }
  throw new DomainError('invalid_request', 'Either total_cents or subtotal_cents is required', {
    fields: [{ field: 'total_cents', message: 'is required' }],
  })
}
