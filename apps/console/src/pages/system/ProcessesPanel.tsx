// Whether each process is ready.
import { useQuery } from '@tanstack/react-query'
import type { ProcessReport } from '../../api/apiTypes.ts'
import { Badge } from '../../parts/Badge.tsx'
import type { Column } from '../../parts/DataTable.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { QueryTable } from '../../parts/QueryTable.tsx'
import { dutyOf, problemsOf } from './systemHealth.ts'
import { systemQuery } from './systemQueries.ts'

export function ProcessesPanel() {
  const query = useQuery(systemQuery)
  return (
    <Panel title="Processes" isFlush actions={query.data && <span className="hint">version {query.data.version}</span>}>
      <QueryTable
        what="processes"
        query={query}
        rowsOf={({ processes }) => processes}
        columns={processColumns}
        rowKey={({ name }) => name}
        empty={{ title: 'No processes', hint: 'HEALTH_URLS names those that this page asks.' }}
      />
    </Panel>
  )
}

const processColumns: readonly Column<ProcessReport>[] = [
  { header: 'Process', narrow: 'title', cell: ({ name }) => name, note: ({ name }) => dutyOf(name) },
  { header: 'Status', isShort: true, narrow: 'figure', cell: ({ status }) => <Badge text={status} /> },
  {
    header: 'Checks',
    narrow: 'detail',
    cell: (process) => problemsOf(process).join('; ') || 'all pass',
  },
  { header: 'Responded in', isNumber: true, cell: ({ ms }) => `${Math.round(ms).toLocaleString()} ms` },
]
