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
