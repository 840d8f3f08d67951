// Webhook endpoints and their deliveries.
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { EndpointReport } from '../../api/apiTypes.ts'
import { CsvButton } from '../../parts/CsvButton.tsx'
import type { Column } from '../../parts/DataTable.tsx'
import { totalOf } from '../../parts/ListTotal.tsx'
import { Page } from '../../parts/Page.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { QueryTable } from '../../parts/QueryTable.tsx'
import { Dash } from '../../parts/Time.tsx'
import { useMay } from '../../session/rights.ts'
import { DeliveriesPanel } from './DeliveriesPanel.tsx'
import { EndpointBadge, EndpointStateText } from './EndpointStateView.tsx'
import { endpointName, placeOf } from './endpointName.ts'
import { successRate } from './endpointRates.ts'
import { TestDialog } from './TestDialog.tsx'
import { endpointsQuery } from './webhookQueries.ts'

const route = getRouteApi('/webhooks')

export function WebhooksPage() {
  const [isTesting, setTesting] = useState(false)
  const may = useMay()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  return (
    <Page
      title="Webhooks"
      lead="Paylog tells your other systems what happens to a payment: each event goes to the endpoints that want it."
      actions={
        <>
          {may('testWebhooks') && (
            <Button variant="default" size="xs" onClick={() => setTesting(true)}>
              Send a test
            </Button>
          )}
          <Button size="xs" renderRoot={(props) => <Link to="/webhooks/new" {...props} />}>
            Add an endpoint
          </Button>
        </>
      }
    >
      <div className="panels">
        <EndpointsPanel />
        <DeliveriesPanel
          search={search}
          change={(changes) => void navigate({ search: (now) => ({ ...now, ...changes }), resetScroll: false })}
        />
      </div>
      {isTesting && <TestDialog close={() => setTesting(false)} />}
    </Page>
  )
}

function EndpointsPanel() {
  const query = useQuery(endpointsQuery)
  return (
    <Panel
      title="Endpoints"
      isFlush
      actions={<CsvButton operation="listWebhookEndpoints" meta={totalOf(query.data)} />}
    >
      <QueryTable
        what="endpoints"
        query={query}
        rowsOf={({ data }) => data}
        columns={columns}
        rowKey={({ endpoint }) => endpoint}
        rowLink={({ endpoint }) => ({ to: '/webhooks/endpoints/$id', params: { id: endpoint } })}
        empty={{ title: 'No endpoints yet', hint: <Link to="/webhooks/new">Add the first one</Link> }}
      />
    </Panel>
  )
}

const columns: readonly Column<EndpointReport>[] = [
  {
    header: 'Endpoint',
    narrow: 'title',
    cell: (endpoint) => <span className="wrap">{endpointName(endpoint)}</span>,
    note: ({ name, url, events, mode }) =>
      [name !== null && url !== null && placeOf(url), events?.join(', '), mode].filter(Boolean).join(' · ') || null,
  },
  {
    header: 'State',
    isShort: true,
    narrow: 'figure',
    cell: (endpoint) => <EndpointBadge endpoint={endpoint} />,
  },
  { header: 'Last', narrow: 'detail', cell: (endpoint) => <EndpointStateText endpoint={endpoint} /> },
  {
    header: 'Delivered, 24 h',
    isNumber: true,
    cell: ({ recent }) => (recent === null ? <Dash /> : successRate(recent)),
    note: ({ recent }) => recent && `of ${recent.deliveries.toLocaleString()}`,
  },
  {
    header: 'Response time',
    isNumber: true,
    cell: ({ recent }) => (recent === null ? <Dash /> : `${recent.p50_ms.toLocaleString()} ms`),
    note: ({ recent }) => recent && `95 % within ${recent.p95_ms.toLocaleString()} ms`,
  },
  { header: 'Waiting', isNumber: true, cell: ({ pending }) => pending.toLocaleString() },
  { header: 'Failed', isNumber: true, cell: ({ failed }) => failed.toLocaleString() },
]
