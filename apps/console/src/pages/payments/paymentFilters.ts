// The filters of the list of payments.

import { choicesOf } from '../../parts/fields.tsx'
import { currencyChoices } from '../../parts/filters/currencies.ts'
import { type Filter, flag } from '../../parts/filters/filterTypes.ts'
import { useProviderFilter } from '../../parts/filters/providerFilter.ts'
import { type PaymentsSearch, statuses } from './paymentsSearch.ts'

export const usePaymentFilters = (): readonly Filter<keyof PaymentsSearch>[] => [
  { kind: 'choice', label: 'Status', names: ['status'], choices: choicesOf(statuses) },
  { kind: 'period', label: 'Created', names: ['created_at_from', 'created_at_to'] },
  { kind: 'amount', label: 'Amount', names: ['amount_from', 'amount_to', 'currency'] },
  { kind: 'choice', label: 'Currency', names: ['currency'], choices: currencyChoices() },
  useProviderFilter(),
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
  'The search looks for e-mail addresses, references and ids of providers as a whole, for our ids by their first 13 characters or more, for amounts such as 22 EUR or 22.00, and for words of the concept, the reference and the description by their beginning. Names of payers are sealed, so that they cannot be searched for.'
