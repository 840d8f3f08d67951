// The price of a recurring product as the billing cycles of a plan.
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import type { CatalogPrice } from '../productCatalog.ts'
import { Money, toCents, toMoney } from './amounts.ts'

export type RecurringPrice = CatalogPrice & { readonly recurring: NonNullable<CatalogPrice['recurring']> }

/** PayPal allows one free trial, and this many days for one cycle of it. */
export const maxTrialDays = 365

const units = { day: 'DAY', week: 'WEEK', month: 'MONTH', year: 'YEAR' } as const

const shownCycle = Compile(
  Type.Object({
    tenure_type: Type.String(),
    frequency: Type.Object({ interval_unit: Type.String(), interval_count: Type.Optional(Type.Integer()) }),
    total_cycles: Type.Optional(Type.Integer()),
    pricing_scheme: Type.Optional(
      Type.Object({ fixed_price: Type.Optional(Money), pricing_model: Type.Optional(Type.String()) }),
    ),
  }),
)

/**
 * What PayPal is told: first the free trial, if there is one, then the price, for ever.
 * @throws ProviderError `currency`
 */
export function billingCyclesOf({ amount_cents, currency, recurring: { interval, trial_days } }: RecurringPrice) {
  const price = {
    frequency: { interval_unit: units[interval], interval_count: 1 },
    tenure_type: 'REGULAR',
    total_cycles: 0,
    pricing_scheme: { fixed_price: toMoney(amount_cents, currency) },
  }
  const trial = {
    frequency: { interval_unit: 'DAY', interval_count: trial_days },
    tenure_type: 'TRIAL',
    total_cycles: 1,
    pricing_scheme: { fixed_price: toMoney(0, currency) },
  }
  const cycles = trial_days > 0 ? [trial, price] : [price]
  return cycles.map((cycle, index) => ({ ...cycle, sequence: index + 1 }))
}

/**
 * Whether a plan is sold at a price. Set-up fees and taxes are not looked at: only the merchant adds them to a plan.
 * @param cycles as PayPal shows them, in any order, and with the amounts in another spelling
 */
export function isAtPrice(cycles: readonly unknown[], price: RecurringPrice): boolean {
  const wanted = billingCyclesOf(price).map(termsOf)
  const shown = cycles.map(termsOf)
  return shown.length === wanted.length && wanted.every((terms) => terms !== null && shown.includes(terms))
}

/** What a subscriber pays in a cycle, so that it can be compared; `null` for what is not ours: price tiers and the like. */
function termsOf(cycle: unknown): string | null {
  if (!shownCycle.Check(cycle)) return null
  const { tenure_type, frequency, total_cycles = 1, pricing_scheme } = cycle
  const { fixed_price, pricing_model } = pricing_scheme ?? {}
  const amount_cents = fixed_price ? toCents(fixed_price) : 0
  if (pricing_model !== undefined || amount_cents === null) return null
  const price = amount_cents === 0 ? 'free' : `${amount_cents} ${fixed_price?.currency_code}`
  return [tenure_type, frequency.interval_unit, frequency.interval_count ?? 1, total_cycles, price].join(' ')
}
