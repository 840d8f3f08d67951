// Amounts as Authorize.Net writes them: decimals with two places, in the one currency of the merchant account.
import { DomainError } from '@paylog/domain/errors'

/** Whatever processor a merchant account stands behind, it is one of these; all of them have two decimals. */
const currencies: ReadonlySet<string> = new Set('AUD CAD CHF DKK EUR GBP NOK NZD PLN SEK USD ZAR'.split(' '))

/**
 * Which of the currencies a merchant account takes, only the gateway knows; it refuses the others.
 * @throws DomainError `currency_not_supported`
 */
export function checkAmount(_amount_cents: number, currency: string): void {
  if (!currencies.has(currency))
    throw new DomainError('currency_not_supported', 'Authorize.Net processes no payments in this currency', {
      supported: [...currencies],
    })
}

/** 725 → `7.25`. */
export function decimalOf(cents: number): string {
  const digits = String(cents).padStart(3, '0')
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`
}

/**
 * `7.25`, `7.250` and `7` → 725, 725 and 700, without a float in between.
 * @returns `null` for what is not a whole number of cents
 */
export function centsOf(decimal: string): number | null {
  const [, units, fraction = ''] = /^(\d{1,13})(?:\.(\d{1,10}))?$/.exec(decimal) ?? []
  if (units === undefined || !/^\d{0,2}0*$/.test(fraction)) return null
  return Number(units + fraction.slice(0, 2).padEnd(2, '0'))
}

// JSON whose numbers stay the text that was sent: amounts are decimals, and a float would lose what they were.

/**
 * Every number becomes its text: `7.25`, `0.0` and `19.990` stay what they are, and ids may come as numbers or as text.
 * @returns `undefined` for what is no JSON
 */
export function parseExactJson(text: string): unknown {
  try {
    return JSON.parse(text, (_key, value: unknown, context?: { readonly source?: string }) =>
      typeof value === 'number' ? context?.source : value,
    )
  } catch {
    return undefined
  }
}

// The invoice number, which ties the transactions at Authorize.Net to a payment of ours.

/** The last 20 hexadecimal digits of the payment's id: the gateway's limit is 20 characters. */
export function invoiceNumberOf(payment_id: string): string {
  return payment_id.replaceAll('-', '').slice(-20).toLowerCase()
}

/** Whether it has the form of ours. Any system that shares the merchant account may choose others. */
export function isInvoiceNumber(text: string): boolean {
  return /^[0-9a-f]{20}$/.test(text)
}

// Free text as the gateway takes it.

/** The schema's limit for descriptions. */
const maxTextLength = 255

/** A request becomes XML there, which knows no control characters, and what is too long is an error. */
export function plainText(text: string): string {
  return text
    .replaceAll(/\p{Cc}+/gu, ' ')
    .slice(0, maxTextLength)
    .toWellFormed()
}
