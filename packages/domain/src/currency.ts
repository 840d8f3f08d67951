// The decimals of currencies, and amounts with them. It imports nothing, because the console ships it to browsers.

/** ISO 4217 currencies whose minor unit is not a hundredth. Not from `Intl`, which differs from ISO here. */
const unusualExponents: ReadonlyMap<string, number> = new Map([
  ...'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'.split(' ').map((code) => [code, 0] as const),
  ...'BHD IQD JOD KWD LYD OMR TND'.split(' ').map((code) => [code, 3] as const),
  ...'CLF UYW'.split(' ').map((code) => [code, 4] as const),
])

/** The number of decimals of an amount in major units. @param code upper-case ISO 4217 */
export function currencyExponent(code: string): number {
  return unusualExponents.get(code) ?? 2
}

/** Without grouping, and without floating point: 725 with two decimals → `7.25`, -725 without decimals → `-725`. */
export function decimalOf(units: number, decimals: number): string {
  const digits = String(Math.abs(units)).padStart(decimals + 1, '0')
  const split = digits.length - decimals
  return `${units < 0 ? '-' : ''}${digits.slice(0, split)}${decimals === 0 ? '' : `.${digits.slice(split)}`}`
}

/** An amount in minor units with the decimals of its currency: `22.00 EUR`. @param currency upper case */
export const amountText = (amount_cents: number, currency: string) =>
  `${decimalOf(amount_cents, currencyExponent(currency))} ${currency}`
