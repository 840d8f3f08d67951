// The decimals of currencies. It imports nothing, because the console ships it to browsers.

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
