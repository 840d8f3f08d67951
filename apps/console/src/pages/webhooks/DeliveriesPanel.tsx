// Deliveries, of all endpoints or of one.
import { useQuery } from '@tanstack/react-query'
import { api, bodyOf } from '../../api/api.ts'
import type { Delivery } from '../../api/apiTypes.ts'
import { CsvButton } from '../../parts/CsvButton.tsx'
import { FilterBar } from '../../parts/filters/FilterBar.tsx'
import { noMatchOf } from '../../parts/filters/filterTypes.ts'
import { NewRows } from '../../parts/NewRows.tsx'
import { Pager } from '../../parts/Pager.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { QueryTable } from '../../parts/QueryTable.tsx'
import { useLiveList } from '../../parts/useLiveList.ts'
import { deliveryColumns } from './deliveryColumns.tsx'
import { deliveryFilters, endpointFilter } from './deliveryFilters.ts'
import { endpointName, useEndpointName } from './endpointName.ts'
import { endpointsQuery } from './webhookQueries.ts'
import { deliveriesQuery, type WebhooksSearch } from './webhooksSearch.ts'

const rowKey = ({ id }: Delivery) => id

/** @param props `search` and `change`: the filters in the URL; `only`: the id of the endpoint */
export function DeliveriesPanel(props: {
  readonly search: WebhooksSearch
  readonly change: (changes: WebhooksSearch) => void
  readonly only?: string
}) {
  const { search, only } = props
  const query = deliveriesQuery(only === undefined ? search : { ...search, endpoint: only })
  const list = useLiveList({
    queryKey: ['deliveries', query],
    queryFn: ({ signal }) => bodyOf(api.listWebhookDeliveries({ query, signal })),
    rowKey,
    isLive: search.cursor === undefined,
  })
  const { data: endpoints } = useQuery(endpointsQuery)
  const nameOf = useEndpointName()
  const choices = endpoints?.data.map((each) => ({ value: each.endpoint, label: endpointName(each) })) ?? []
  const filters = only === undefined ? [endpointFilter(choices), ...deliveryFilters] : deliveryFilters
  const change = (changes: WebhooksSearch) => props.change({ cursor: undefined, ...changes })
  const filtered = { filters, values: search, change }
  return (
    <Panel title="Deliveries" isFlush actions={<CsvButton operation="listWebhookDeliveries" query={query} />}>
      <div className="panelTop">
        <FilterBar what="deliveries" {...filtered} />
        <NewRows count={list.newCount} show={list.showNew} />
      </div>
      <QueryTable
        what="deliveries"
        query={list.query}
        rowsOf={({ data }) => data}
        columns={deliveryColumns(only === undefined ? nameOf : undefined)}
        rowKey={rowKey}
        rowLink={({ id }) => ({ to: '/webhooks/deliveries/$id', params: { id } })}
        empty={{ title: 'No deliveries yet', hint: 'The first event, or a test, appears here.' }}
        noMatch={noMatchOf({ ...filtered, hint: 'Event names and ids are matched as a whole.' })}
      />
      <Pager cursor={search.cursor} next={list.query.data?.meta.next_cursor} show={(cursor) => change({ cursor })} />
    </Panel>
  )
}
