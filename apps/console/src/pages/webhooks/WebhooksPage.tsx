// Webhook endpoints and their deliveries.
import { Button } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { api, bodyOf } from '../../api/api.ts'
import type { Delivery } from '../../api/apiTypes.ts'
import { CsvButton } from '../../parts/CsvButton.tsx'
import { FilterBar } from '../../parts/filters/FilterBar.tsx'
import { noMatchOf } from '../../parts/filters/filterTypes.ts'
import { NewRows } from '../../parts/NewRows.tsx'
import { Page } from '../../parts/Page.tsx'
import { Pager } from '../../parts/Pager.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { QueryTable } from '../../parts/QueryTable.tsx'
import { useLiveList } from '../../parts/useLiveList.ts'
import { useMay } from '../../session/rights.ts'
import { deliveryColumns } from './deliveryColumns.tsx'
import { deliveryFilters } from './deliveryFilters.ts'
import { EndpointsPanel } from './EndpointsPanel.tsx'
import { TestDialog } from './TestDialog.tsx'
import { deliveriesQuery, type WebhooksSearch } from './webhooksSearch.ts'

const route = getRouteApi('/webhooks')
const rowKey = ({ id }: Delivery) => id

export function WebhooksPage() {
  const [isTesting, setTesting] = useState(false)
  const may = useMay()
  return (
    <Page
      title="Webhooks"
      actions={
        may('testWebhooks') && (
          <Button variant="default" size="xs" onClick={() => setTesting(true)}>
            Send a test
          </Button>
        )
      }
    >
      <div className="panels">
        <EndpointsPanel />
        <Deliveries />
      </div>
      {isTesting && <TestDialog close={() => setTesting(false)} />}
    </Page>
  )
}

function Deliveries() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const query = deliveriesQuery(search)
  const list = useLiveList({
    queryKey: ['deliveries', query],
    queryFn: ({ signal }) => bodyOf(api.listWebhookDeliveries({ query, signal })),
    rowKey,
    isLive: search.cursor === undefined,
  })
  const change = (changes: WebhooksSearch) =>
    void navigate({ search: (now) => ({ ...now, cursor: undefined, ...changes }), resetScroll: false })
  const filtered = { filters: deliveryFilters, values: search, change }
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
        columns={deliveryColumns}
        rowKey={rowKey}
        isMarked={({ status }) => status === 'failed'}
        rowLink={({ id }) => ({ to: '/webhooks/deliveries/$id', params: { id } })}
        empty={{ title: 'No deliveries yet', hint: 'Send a test to see one.' }}
        noMatch={noMatchOf({ ...filtered, hint: 'Event names and ids are matched as a whole.' })}
      />
      <Pager cursor={search.cursor} next={list.query.data?.meta.next_cursor} show={(cursor) => change({ cursor })} />
    </Panel>
  )
}
