// What a search of payments may mean besides words: the beginning of an id, or an amount.
import { currencyExponent } from '@paylog/domain/currency'
import { recordedId } from '@paylog/domain/fields'
import { currencies } from '@paylog/domain/money'

/** Ids begin with their time: those of one minute share eight characters, and thirteen are a millisecond. */
const leastIdCharacters = 13
const idLike = 'xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx'

/**
 * The first or the last id that begins with a text.
 * @param digit that the rest of the id consists of: `0` or `f`
 * @returns null for a text that is too short, or that no id begins with
 */
export function idBeginning(text: string, digit: '0' | 'f'): string | null {
  if (text.length < leastIdCharacters) return null
  return recordedId(text + idLike.slice(text.length).replaceAll('x', digit))
}

export type SearchedAmount = {
  /** In minor units. */
  readonly cents: number
  readonly currencies: readonly string[]
}

const amountPattern = /^(?:([A-Z]{3})\s*)?(\d{1,12})(?:[.,](\d{1,4}))?(?:\s*([A-Z]{3}))?$/i

/**
 * The amount that a text such as `22 EUR` or `22.00` names. Without a currency it has decimals, and as many as the currencies that
 * it may be in; a number alone is a word.
 * @returns undefined for another text
 */
export function searchedAmount(text: string): SearchedAmount | undefined {
  const [, before, whole, decimals = '', after] = amountPattern.exec(text) ?? []
  if (whole === undefined || (before !== undefined && after !== undefined)) return undefined
  const code = (before ?? after)?.toUpperCase()
  if (code === undefined && decimals === '') return undefined
  const exponent = code === undefined ? Math.max(decimals.length, 2) : currencyExponent(code)
  const found = code === undefined ? currenciesOf(exponent) : currencies.filter((each) => each === code)
  const isWhole = /^0*$/.test(decimals.slice(exponent))
  if (found.length === 0 || !isWhole) return undefined
  return { cents: Number(whole + decimals.slice(0, exponent).padEnd(exponent, '0')), currencies: found }
}

const currenciesOf = (exponent: number) => currencies.filter((code) => currencyExponent(code) === exponent)
