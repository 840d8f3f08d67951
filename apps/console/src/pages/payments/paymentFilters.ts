// The filters of the list of payments.

import { choicesOf } from '../../parts/fields.tsx'
import { currencyChoices } from '../../parts/filters/currencies.ts'
import { type Filter, flag } from '../../parts/filters/filterTypes.ts'
import { type PaymentsSearch, statuses } from './paymentsSearch.ts'

export const paymentFilters: readonly Filter<keyof PaymentsSearch>[] = [
  { kind: 'choice', label: 'Status', names: ['status'], choices: choicesOf(statuses) },
  { kind: 'period', label: 'Created', names: ['created_at_from', 'created_at_to'] },
  { kind: 'amount', label: 'Amount', names: ['amount_from', 'amount_to', 'currency'] },
  { kind: 'choice', label: 'Currency', names: ['currency'], choices: currencyChoices() },
  { kind: 'text', label: 'Provider', names: ['provider_id'], placeholder: 'stripe' },
  { kind: 'text', label: 'Guest e-mail', names: ['guest_email'], hint: 'The whole address' },
  { kind: 'text', label: 'User id', names: ['user_id'], hint: 'The whole id' },
  { kind: 'text', label: 'Reference', names: ['reference_code'], hint: 'The whole reference' },
  flag('Refunded', 'refunded'),
  flag('Disputed', 'disputed'),
  flag('Needs attention', 'attention'),
]

export const paymentOrders = [
  { value: 'created_at asc', label: 'Oldest first' },
  { value: 'updated_at desc', label: 'Last updated first' },
  { value: 'amount_cents desc', label: 'Highest amount first' },
  { value: 'amount_cents asc', label: 'Lowest amount first' },
]

/** Said where a search finds nothing. */
export const paymentMatchHint =
  'The search looks for ids, e-mail addresses and references as a whole, and for words of the concept, the reference and the description by their beginning. Names of payers are sealed, so that they cannot be searched for.'
