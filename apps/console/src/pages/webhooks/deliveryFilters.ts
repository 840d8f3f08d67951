// The filters of the deliveries.
import { type Choice, choicesOf } from '../../parts/fields.tsx'
import { type Filter, flag } from '../../parts/filters/filterTypes.ts'
import { deliveryStatuses, type WebhooksSearch } from './webhooksSearch.ts'

type DeliveryFilter = Filter<keyof WebhooksSearch>

export const deliveryFilters: readonly DeliveryFilter[] = [
  { kind: 'choice', label: 'Status', names: ['status'], choices: choicesOf(deliveryStatuses) },
  { kind: 'period', label: 'Created', names: ['created_at_from', 'created_at_to'] },
  { kind: 'text', label: 'Event', names: ['event'], placeholder: 'payment.succeeded', hint: 'The whole name' },
  { kind: 'text', label: 'Payment id', names: ['payment_id'], hint: 'The whole id' },
  flag('Test', 'test'),
]

/** @param choices the endpoints, by their names */
export const endpointFilter = (choices: readonly Choice[]): DeliveryFilter => ({
  kind: 'choice',
  label: 'Endpoint',
  names: ['endpoint'],
  choices,
})
