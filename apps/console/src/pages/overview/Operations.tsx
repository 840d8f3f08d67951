// How read models and deliveries do.
import { useQuery } from '@tanstack/react-query'
import { api, bodyOf } from '../../api/api.ts'
import type { EndpointReport, ProjectionReport } from '../../api/apiTypes.ts'
import { pollMs } from '../../api/queryClient.ts'
import { formatDuration } from '../../format/time.ts'
import { Badge } from '../../parts/Badge.tsx'
import type { Column } from '../../parts/DataTable.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { QueryTable } from '../../parts/QueryTable.tsx'
import { Dash } from '../../parts/Time.tsx'
import { endpointsQuery } from '../webhooks/webhookQueries.ts'

export function ProjectionLag() {
  const query = useQuery({
    queryKey: ['projections'],
    queryFn: ({ signal }) => bodyOf(api.listProjections({ signal })),
    refetchInterval: pollMs,
  })
  return (
    <Panel title="Read models" isFlush>
      <QueryTable
        what="read models"
        query={query}
        rowsOf={({ data }) => data}
        columns={projectionColumns}
        rowKey={({ projection }) => projection}
        isMarked={({ is_running }) => !is_running}
        empty={{ title: 'No read models' }}
      />
    </Panel>
  )
}

const projectionColumns: readonly Column<ProjectionReport>[] = [
  { header: 'Read model', cell: ({ projection }) => projection },
  { header: 'Status', cell: (report) => <ProjectionStatus report={report} /> },
  {
    header: 'Events behind',
    isNumber: true,
    cell: ({ lag }) => (lag === null ? <Dash /> : `${lag.events}${lag.is_more ? '+' : ''}`),
  },
  { header: 'Behind by', isNumber: true, cell: ({ lag }) => (lag === null ? <Dash /> : formatDuration(lag.seconds)) },
]

function ProjectionStatus({ report }: { readonly report: ProjectionReport }) {
  const { is_running, is_rebuilding, is_verifying, stopped_because } = report
  return (
    <span className="badges">
      {is_running ? <Badge text="running" tone="good" /> : <Badge text="stopped" tone="bad" />}
      {is_rebuilding && <Badge text="rebuilding" tone="busy" />}
      {is_verifying && <Badge text="verifying" tone="busy" />}
      {stopped_because}
    </span>
  )
}

export function DeliveryBacklog() {
  const query = useQuery(endpointsQuery)
  return (
    <Panel title="Webhook deliveries" isFlush>
      <QueryTable
        what="webhook endpoints"
        query={query}
        rowsOf={({ data }) => data}
        columns={endpointColumns}
        rowKey={({ endpoint }) => endpoint}
        isMarked={({ disabled_at, failed }) => disabled_at !== null || failed > 0}
        empty={{ title: 'No webhook endpoints', hint: 'They are configured with WEBHOOK_n_URL.' }}
      />
    </Panel>
  )
}

const ageOf = (time: string | null) => (time === null ? null : Math.max(0, (Date.now() - Date.parse(time)) / 1_000))

const endpointColumns: readonly Column<EndpointReport>[] = [
  { header: 'Endpoint', cell: ({ endpoint }) => endpoint },
  { header: 'Status', isShort: true, cell: (report) => <EndpointStatus report={report} /> },
  { header: 'Pending', isNumber: true, cell: ({ pending }) => pending },
  { header: 'Oldest', isNumber: true, cell: ({ oldest_pending_at }) => <Age seconds={ageOf(oldest_pending_at)} /> },
  { header: 'Failed', isNumber: true, cell: ({ failed }) => failed },
]

const Age = ({ seconds }: { readonly seconds: number | null }) =>
  seconds === null ? <Dash /> : formatDuration(seconds)

function EndpointStatus({ report }: { readonly report: EndpointReport }) {
  if (!report.is_configured) return <Badge text="not configured" />
  return report.disabled_at === null ? <Badge text="enabled" /> : <Badge text="paused" tone="warn" />
}
