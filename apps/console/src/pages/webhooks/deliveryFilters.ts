// The filters of the deliveries.
import { choicesOf } from '../../parts/fields.tsx'
import { type Filter, flag } from '../../parts/filters/filterTypes.ts'
import { deliveryStatuses, type WebhooksSearch } from './webhooksSearch.ts'

export const deliveryFilters: readonly Filter<keyof WebhooksSearch>[] = [
  { kind: 'choice', label: 'Status', names: ['status'], choices: choicesOf(deliveryStatuses) },
  { kind: 'text', label: 'Endpoint', names: ['endpoint'] },
  { kind: 'text', label: 'Event', names: ['event'], placeholder: 'payment.succeeded', hint: 'The whole name' },
  { kind: 'text', label: 'Payment id', names: ['payment_id'], hint: 'The whole id' },
  flag('Test', 'test'),
]
