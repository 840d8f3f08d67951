// The endpoints: their state, how their newest deliveries went, and what can be done with all of one.
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { EndpointReport } from '../../api/apiTypes.ts'
import { Badge } from '../../parts/Badge.tsx'
import { CsvButton } from '../../parts/CsvButton.tsx'
import type { Column } from '../../parts/DataTable.tsx'
import { totalOf } from '../../parts/ListTotal.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { QueryTable } from '../../parts/QueryTable.tsx'
import { Dash, Time } from '../../parts/Time.tsx'
import { useMay } from '../../session/rights.ts'
import { BackfillDialog } from './BackfillDialog.tsx'
import { EnableDialog } from './EnableDialog.tsx'
import { latency, successRate } from './endpointRates.ts'
import { RedeliverFailedDialog } from './RedeliverFailedDialog.tsx'
import { endpointsQuery } from './webhookQueries.ts'

type Action = { readonly kind: keyof typeof dialogs; readonly endpoint: EndpointReport }

const operations = {
  enable: 'enableWebhookEndpoint',
  redeliver: 'redeliverFailedWebhooks',
  backfill: 'backfillWebhooks',
} as const

const dialogs = { enable: EnableDialog, redeliver: RedeliverFailedDialog, backfill: BackfillDialog }

/** @param props `only`: the one that is shown; all of them without it */
export function EndpointsPanel({ only }: { readonly only?: string }) {
  const [action, setAction] = useState<Action>()
  const query = useQuery(endpointsQuery)
  const Dialog = action && dialogs[action.kind]
  return (
    <Panel
      title="Endpoints"
      isFlush
      actions={only === undefined && <CsvButton operation="listWebhookEndpoints" meta={totalOf(query.data)} />}
    >
      <QueryTable
        what="endpoints"
        query={query}
        rowsOf={({ data }) => data.filter(({ endpoint }) => only === undefined || endpoint === only)}
        columns={[
          ...columns,
          { header: 'Actions', cell: (endpoint) => <Actions endpoint={endpoint} start={setAction} /> },
        ]}
        rowKey={({ endpoint }) => endpoint}
        isMarked={({ disabled_at, failed }) => disabled_at !== null || failed > 0}
        empty={{ title: 'No endpoints', hint: 'They are configured with WEBHOOK_n_URL.' }}
      />
      {Dialog && <Dialog endpoint={action.endpoint} close={() => setAction(undefined)} />}
    </Panel>
  )
}

const columns: readonly Column<EndpointReport>[] = [
  { header: 'Endpoint', cell: (endpoint) => <EndpointName endpoint={endpoint} /> },
  { header: 'State', cell: (endpoint) => <EndpointState endpoint={endpoint} /> },
  {
    header: 'Succeeded, 24 h',
    cell: ({ recent }) =>
      recent === null ? <Dash /> : `${successRate(recent)} of ${recent.deliveries.toLocaleString()}`,
  },
  { header: 'p50, p95', cell: ({ recent }) => (recent === null ? <Dash /> : latency(recent)) },
  { header: 'Pending', cell: (endpoint) => <Pending endpoint={endpoint} /> },
  { header: 'Failed', isNumber: true, cell: ({ failed }) => failed.toLocaleString() },
]

function EndpointName({ endpoint: { endpoint, url, events, mode, format } }: { readonly endpoint: EndpointReport }) {
  const about = [mode, format, events?.join(', ')].filter((text) => text !== null && text !== undefined)
  return (
    <>
      <strong>{endpoint}</strong> {url !== null && <span className="wrap">{url}</span>}
      {about.length > 0 && <p className="hint wrap">{about.join(' · ')}</p>}
    </>
  )
}

function EndpointState({ endpoint: { is_configured, disabled_at } }: { readonly endpoint: EndpointReport }) {
  return (
    <>
      <span className="badges">
        {!is_configured && <Badge text="not configured any more" tone="warn" />}
        {disabled_at !== null && <Badge text="paused" tone="warn" />}
        {is_configured && disabled_at === null && <Badge text="enabled" tone="good" />}
      </span>
      {disabled_at !== null && (
        <p className="hint">
          since <Time value={disabled_at} />
        </p>
      )}
    </>
  )
}

function Pending({ endpoint: { pending, oldest_pending_at } }: { readonly endpoint: EndpointReport }) {
  return (
    <>
      {pending.toLocaleString()}
      {oldest_pending_at !== null && (
        <p className="hint">
          since <Time value={oldest_pending_at} />
        </p>
      )}
    </>
  )
}

function Actions(props: { readonly endpoint: EndpointReport; readonly start: (action: Action) => void }) {
  const { endpoint, start } = props
  const may = useMay()
  const button = (kind: Action['kind'], label: string) =>
    may(operations[kind]) && (
      <Button
        size="compact-xs"
        variant="default"
        aria-label={`${label}: endpoint ${endpoint.endpoint}`}
        onClick={() => start({ kind, endpoint })}
      >
        {label}
      </Button>
    )
  return (
    <span className="row">
      {endpoint.disabled_at !== null && button('enable', 'Enable')}
      {endpoint.failed > 0 && button('redeliver', 'Redeliver failed')}
      {endpoint.url !== null && button('backfill', 'Backfill')}
    </span>
  )
}
