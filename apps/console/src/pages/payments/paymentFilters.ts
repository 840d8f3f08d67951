// The filters of the list of payments.

import { choicesOf } from '../../parts/fields.tsx'
import { type Filter, flag } from '../../parts/filters/filterTypes.ts'
import {
  createdFilter,
  currencyFilter,
  moneyOrders,
  providerFilter,
  reportedFilter,
} from '../../parts/filters/moneyFilters.ts'
import { type PaymentsSearch, statuses } from './paymentsSearch.ts'

export const paymentFilters: readonly Filter<keyof PaymentsSearch>[] = [
  { kind: 'choice', label: 'Status', names: ['status'], choices: choicesOf(statuses) },
  createdFilter,
  reportedFilter('Money received'),
  { kind: 'amount', label: 'Amount', names: ['amount_from', 'amount_to', 'currency'] },
  currencyFilter,
  providerFilter,
  { kind: 'text', label: 'Guest e-mail', names: ['guest_email'], hint: 'The whole address' },
  { kind: 'text', label: 'User id', names: ['user_id'], hint: 'The whole id' },
  { kind: 'text', label: 'Reference', names: ['reference_code'], hint: 'The whole reference' },
  flag('Refunded', 'refunded'),
  flag('Disputed', 'disputed'),
  flag('Needs attention', 'attention'),
]

export const paymentOrders = [
  ...moneyOrders,
  { value: 'amount_cents desc', label: 'Highest amount first' },
  { value: 'amount_cents asc', label: 'Lowest amount first' },
]

/** Said where a search finds nothing. */
export const paymentMatchHint =
  'As a whole: ids of the provider, e-mail addresses, references, and amounts such as 22 EUR or 22.00. By their beginning: our ids, from ' +
  '13 characters on, and words of the concept, the reference and the description. Names of payers cannot be searched for: they are ' +
  'sealed with the payer’s own key, so that an erasure removes them everywhere.'
