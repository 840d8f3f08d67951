// The columns of projections and of their tables.
import type { ProjectionReport, ProjectionTable } from '../../api/apiTypes.ts'
import { formatBytes } from '../../format/bytes.ts'
import { formatDuration } from '../../format/time.ts'
import { Badge } from '../../parts/Badge.tsx'
import type { Column } from '../../parts/DataTable.tsx'
import { Dash, Time } from '../../parts/Time.tsx'

const liveTable = ({ tables }: ProjectionReport) => tables.find(({ state }) => state === 'live')

export const projectionColumns: readonly Column<ProjectionReport>[] = [
  { header: 'Projection', cell: ({ projection }) => projection },
  { header: 'State', cell: (report) => <ProjectionState report={report} /> },
  { header: 'Lag', cell: ({ lag }) => <Lag lag={lag} /> },
  { header: 'Schema', cell: (report) => <SchemaVersion report={report} /> },
  { header: 'Position', isNumber: true, cell: (report) => liveTable(report)?.position ?? <Dash /> },
  { header: 'Rows', isNumber: true, cell: (report) => liveTable(report)?.rows.toLocaleString() ?? <Dash /> },
]

function ProjectionState({ report }: { readonly report: ProjectionReport }) {
  const { is_running, is_rebuilding, is_verifying, stopped_because } = report
  return (
    <>
      <span className="badges">
        {stopped_because !== null ? (
          <Badge text="stopped" tone="bad" />
        ) : (
          <Badge text={is_running ? 'running' : 'not running'} tone={is_running ? 'good' : 'bad'} />
        )}
        {is_rebuilding && <Badge text="rebuilding" tone="busy" />}
        {is_verifying && <Badge text="verifying" tone="busy" />}
      </span>
      {stopped_because !== null && <p className="hint wrap">{stopped_because}</p>}
    </>
  )
}

function Lag({ lag }: { readonly lag: ProjectionReport['lag'] }) {
  if (lag === null) return <Dash />
  if (lag.events === 0) return 'up to date'
  const count = lag.events.toLocaleString()
  return `${count}${lag.is_more ? '+' : ''} ${lag.events === 1 ? 'event' : 'events'}, ${formatDuration(lag.seconds)}`
}

/** The version of the live table; with the one of this program when a rebuild is needed. */
function SchemaVersion({ report }: { readonly report: ProjectionReport }) {
  const live = liveTable(report)
  if (live === undefined) return <Dash />
  if (report.schema_version === null || report.schema_version === live.schema_version)
    return `version ${live.schema_version}`
  return (
    <>
      version {live.schema_version} <Badge text={`current is ${report.schema_version}`} tone="warn" />
    </>
  )
}

export const tablesOf = (reports: readonly ProjectionReport[]): readonly ProjectionTable[] =>
  reports.flatMap(({ tables }) => tables)

export const tableColumns: readonly Column<ProjectionTable>[] = [
  { header: 'Table', cell: ({ table }) => <code>{table}</code> },
  { header: 'State', isShort: true, cell: ({ state }) => <Badge text={state} /> },
  { header: 'Since', cell: ({ since }) => <Time value={since} /> },
  { header: 'Schema', isNumber: true, cell: ({ schema_version }) => schema_version },
  { header: 'Position', isNumber: true, cell: ({ position }) => position ?? <Dash /> },
  { header: 'Rows, about', isNumber: true, cell: ({ rows }) => rows.toLocaleString() },
  { header: 'Size', isNumber: true, cell: ({ bytes }) => formatBytes(bytes) },
]
