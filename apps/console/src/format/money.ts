// Amounts in minor units, by the decimals of their currency.
import { currencyExponent, decimalOf as decimalWith } from '@paylog/domain/currency'

/** The amount in major units, as a decimal without grouping, such as 22.00. @param currency in upper case */
export const decimalOf = (cents: number, currency: string) => decimalWith(cents, currencyExponent(currency))

/**
 * The amount with its currency, in the reader's language, such as €22.00.
 * @param locale of the browser when undefined
 */
export function formatMoney(cents: number, currency: string, locale?: string): string {
  const digits = currencyExponent(currency)
  const decimal = decimalOf(cents, currency) as Intl.StringNumericLiteral
  try {
    return new Intl.NumberFormat(locale, {
      style: 'currency',
      currency,
      currencyDisplay: 'code',
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
    }).format(decimal)
  } catch {
    // A currency that the browser does not know.
    return `${decimal} ${currency}`
  }
}

/**
 * The minor units of an amount that somebody typed, with a point or a comma before the decimals.
 * @returns null for anything else, and for more decimals than the currency has
 */
export function parseMoney(text: string, currency: string): number | null {
  const exponent = currencyExponent(currency)
  const { whole = '', fraction = '' } = /^(?<whole>\d{1,12})(?:[.,](?<fraction>\d*))?$/.exec(text.trim())?.groups ?? {}
  if (whole === '' || fraction.length > exponent) return null
  return Number(whole + fraction.padEnd(exponent, '0'))
}
