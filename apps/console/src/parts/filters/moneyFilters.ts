// The filters that the lists of payments, refunds and disputes share.
import { providerNames } from '@paylog/domain/providerEvents'
import { providerName } from '../../format/providerTexts.ts'
import { currencyChoices } from './currencies.ts'
import type { Filter } from './filterTypes.ts'

export const createdFilter: Filter<'created_at_from' | 'created_at_to'> = {
  kind: 'period',
  label: 'Created',
  names: ['created_at_from', 'created_at_to'],
}

export const providerFilter: Filter<'provider_id'> = {
  kind: 'choice',
  label: 'Provider',
  names: ['provider_id'],
  choices: providerNames.map((id) => ({ value: id, label: providerName(id) })),
}

export const currencyFilter: Filter<'currency'> = {
  kind: 'choice',
  label: 'Currency',
  names: ['currency'],
  choices: currencyChoices(),
}

export const paymentFilter: Filter<'payment_id'> = {
  kind: 'text',
  label: 'Payment',
  names: ['payment_id'],
  hint: 'The whole id',
}

export const customerFilters: readonly Filter<'guest_email' | 'user_id'>[] = [
  { kind: 'text', label: 'Guest e-mail', names: ['guest_email'], hint: 'The whole address' },
  { kind: 'text', label: 'User id', names: ['user_id'], hint: 'The whole id' },
]

/** What the report of a period counts. @param label for example "Money received" */
export const reportedFilter = (label: string): Filter<'reported_in'> => ({
  kind: 'interval',
  label,
  names: ['reported_in'],
})

export const moneyOrders = [
  { value: 'created_at asc', label: 'Oldest first' },
  { value: 'updated_at desc', label: 'Last updated first' },
]
