// Money in PayPal's form: decimal strings, in the currencies that it takes.
import { DomainError } from '@paylog/domain/errors'
import { currencyExponent } from '@paylog/domain/money'
import { type Static, Type } from 'typebox'
import { ProviderError } from '../provider.ts'

export const Money = Type.Object({ currency_code: Type.String({ pattern: '^[A-Z]{3}$' }), value: Type.String() })
export type Money = Readonly<Static<typeof Money>>

/** PayPal's list of currencies. Its largest amount, 999 999 999 999 999.99, is beyond ours in every one of them. */
const currencies: ReadonlySet<string> = new Set(
  'AUD BRL CAD CHF CNY CZK DKK EUR GBP HKD HUF ILS JPY MXN MYR NOK NZD PHP PLN SEK SGD THB TWD USD'.split(' '),
)
/** PayPal takes no decimals in these, whatever ISO 4217 says. */
const wholeCurrencies: ReadonlySet<string> = new Set(['HUF', 'JPY', 'TWD'])

const decimal = /^(\d{1,15})(?:\.(\d{1,10}))?$/

/** @throws DomainError `currency_not_supported` */
export function checkAmount(amount_cents: number, currency: string): void {
  if (!currencies.has(currency)) throw new DomainError('currency_not_supported', `PayPal does not take ${currency}`)
  if (moneyOf(amount_cents, currency) === null)
    throw new DomainError('currency_not_supported', `PayPal takes whole amounts of ${currency} only`)
}

/**
 * An amount as PayPal wants it.
 * @param amount_cents in ISO 4217's minor units
 * @throws ProviderError `currency` for an amount that `checkAmount` refuses
 */
export function toMoney(amount_cents: number, currency: string): Money {
  const money = currencies.has(currency) ? moneyOf(amount_cents, currency) : null
  if (money) return money
  throw new ProviderError('currency', 'currency_not_supported', 'PayPal does not take this amount in this currency')
}

function moneyOf(amount_cents: number, currency_code: string): Money | null {
  const exponent = currencyExponent(currency_code)
  const digits = String(amount_cents).padStart(exponent + 1, '0')
  const whole = digits.slice(0, digits.length - exponent)
  const fraction = digits.slice(digits.length - exponent)
  if (!wholeCurrencies.has(currency_code)) return { currency_code, value: `${whole}.${fraction}` }
  return /^0*$/.test(fraction) ? { currency_code, value: whole } : null
}

/** An amount of PayPal's in minor units; `null` when it is none, or finer than the currency. */
export function toCents({ currency_code, value }: Money): number | null {
  const [, whole, fraction = ''] = decimal.exec(value) ?? []
  if (whole === undefined) return null
  const exponent = currencyExponent(currency_code)
  if (!/^0*$/.test(fraction.slice(exponent))) return null
  const cents = Number(whole + fraction.slice(0, exponent).padEnd(exponent, '0'))
  return Number.isSafeInteger(cents) ? cents : null
}
