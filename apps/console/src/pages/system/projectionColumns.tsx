// The columns of read models and of their tables.
import type { ProjectionReport, ProjectionTable } from '../../api/apiTypes.ts'
import { formatBytes } from '../../format/bytes.ts'
import { formatDuration } from '../../format/time.ts'
import { Badge } from '../../parts/Badge.tsx'
import type { Column } from '../../parts/DataTable.tsx'
import { Dash, Time } from '../../parts/Time.tsx'

const liveTable = ({ tables }: ProjectionReport) => tables.find(({ state }) => state === 'live')

export const projectionColumns: readonly Column<ProjectionReport>[] = [
  {
    header: 'Read model',
    narrow: 'title',
    cell: ({ projection }) => projection,
    note: (report) => <Contents report={report} />,
  },
  {
    header: 'State',
    narrow: 'figure',
    cell: (report) => <ProjectionState report={report} />,
    note: ({ stopped_because }) => stopped_because,
  },
  { header: 'Behind the log', narrow: 'detail', cell: ({ lag }) => <Lag lag={lag} /> },
  { header: 'Position', isNumber: true, cell: (report) => liveTable(report)?.position ?? <Dash /> },
]

function ProjectionState({ report }: { readonly report: ProjectionReport }) {
  const { is_running, is_rebuilding, is_verifying, stopped_because } = report
  return (
    <span className="badges">
      {stopped_because !== null ? (
        <Badge text="stopped" tone="bad" />
      ) : (
        <Badge text={is_running ? 'running' : 'not running'} tone={is_running ? 'good' : 'bad'} />
      )}
      {is_rebuilding && <Badge text="rebuilding" tone="busy" />}
      {is_verifying && <Badge text="verifying" tone="busy" />}
    </span>
  )
}

function Lag({ lag }: { readonly lag: ProjectionReport['lag'] }) {
  if (lag === null) return <Dash />
  if (lag.events === 0) return 'up to date'
  const count = lag.events.toLocaleString()
  return `${count}${lag.is_more ? '+' : ''} ${lag.events === 1 ? 'event' : 'events'}, ${formatDuration(lag.seconds)}`
}

/** Rows and schema version of the live table; with the version of this program when a rebuild is needed. */
function Contents({ report }: { readonly report: ProjectionReport }) {
  const live = liveTable(report)
  if (live === undefined) return 'no table yet'
  const isCurrent = report.schema_version === null || report.schema_version === live.schema_version
  return (
    <>
      {live.rows.toLocaleString()} rows, schema version {live.schema_version}{' '}
      {!isCurrent && <Badge text={`current is ${report.schema_version}`} tone="warn" />}
    </>
  )
}

export const tablesOf = (reports: readonly ProjectionReport[]): readonly ProjectionTable[] =>
  reports.flatMap(({ tables }) => tables)

export const tableColumns: readonly Column<ProjectionTable>[] = [
  { header: 'Table', narrow: 'title', cell: ({ table }) => <code>{table}</code> },
  { header: 'State', isShort: true, narrow: 'figure', cell: ({ state }) => <Badge text={state} /> },
  { header: 'Rows, about', isNumber: true, cell: ({ rows }) => rows.toLocaleString() },
  { header: 'Size', isNumber: true, narrow: 'detail', cell: ({ bytes }) => formatBytes(bytes) },
  { header: 'Position', isNumber: true, cell: ({ position }) => position ?? <Dash /> },
  { header: 'Since', narrow: 'detail', cell: ({ since }) => <Time value={since} /> },
]
