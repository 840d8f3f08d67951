// The filters of the deliveries.
import { ChoiceFilter, ClearFilters, choicesOf, FlagFilter, TextFilter } from '../../parts/filters.tsx'
import { deliveryStatuses, type WebhooksSearch } from './webhooksSearch.ts'

const names = ['endpoint', 'status', 'event', 'payment_id', 'test'] as const

export function DeliveryFilters(props: {
  readonly search: WebhooksSearch
  readonly change: (changes: WebhooksSearch) => void
}) {
  const { search, change } = props
  return (
    <search className="filterPanel" aria-label="Filters of deliveries">
      <div className="filters">
        <ChoiceFilter
          label="Status"
          any="Any"
          choices={choicesOf(deliveryStatuses)}
          value={search.status}
          change={(status) => change({ status })}
        />
        <TextFilter label="Endpoint" value={search.endpoint} change={(endpoint) => change({ endpoint })} />
        <TextFilter
          label="Event"
          placeholder="payment.succeeded"
          value={search.event}
          change={(event) => change({ event })}
        />
        <TextFilter
          isWide
          label="Payment id"
          value={search.payment_id}
          change={(payment_id) => change({ payment_id })}
        />
        <FlagFilter label="Test" value={search.test} change={(test) => change({ test })} />
      </div>
      <div className="row">
        <ClearFilters names={names} search={search} change={change} />
      </div>
    </search>
  )
}
