// The currencies that filters offer.
import type { Choice } from '../fields.tsx'

/** The most used ones come first. */
const common = ['EUR', 'USD', 'GBP', 'CHF', 'JPY']

/** All currencies that the browser knows, by their codes. @param chosen is offered also when it does not know it */
export function currencyChoices(chosen?: string): Choice[] {
  const codes = new Set([...common, ...Intl.supportedValuesOf('currency'), ...(chosen ? [chosen] : [])])
  return [...codes].map((code) => ({ value: code, label: code }))
}
