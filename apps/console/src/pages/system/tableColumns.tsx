// The columns of the tables of read models.
import type { ProjectionReport, ProjectionTable } from '../../api/apiTypes.ts'
import { formatBytes } from '../../format/bytes.ts'
import { Badge } from '../../parts/Badge.tsx'
import type { Column } from '../../parts/DataTable.tsx'
import { Dash, Time } from '../../parts/Time.tsx'

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
