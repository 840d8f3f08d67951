// Whether each process is ready.
import { useQuery } from '@tanstack/react-query'
import { api, dataOf } from '../../api/api.ts'
import type { ProcessReport } from '../../api/apiTypes.ts'
import { pollMs } from '../../api/queryClient.ts'
import { Badge } from '../../parts/Badge.tsx'
import type { Column } from '../../parts/DataTable.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { QueryTable } from '../../parts/QueryTable.tsx'

export function ProcessesPanel() {
  const query = useQuery({
    queryKey: ['system'],
    queryFn: ({ signal }) => dataOf(api.getSystem({ signal })),
    refetchInterval: pollMs,
  })
  return (
    <Panel title="Processes" isFlush actions={query.data && <span className="hint">version {query.data.version}</span>}>
      <QueryTable
        what="processes"
        query={query}
        rowsOf={({ processes }) => processes}
        columns={processColumns}
        rowKey={({ name }) => name}
        isMarked={({ status }) => status !== 'ready'}
        empty={{ title: 'No processes', hint: 'HEALTH_URLS names those that this page asks.' }}
      />
    </Panel>
  )
}

/** The checks that fail, with what they say. */
function failedChecks({ checks }: ProcessReport): string {
  const failed = Object.entries(checks).filter(([, { ok }]) => !ok)
  return failed.map(([name, { ok: _, ...about }]) => [name, ...Object.values(about).map(String)].join(': ')).join('; ')
}

const processColumns: readonly Column<ProcessReport>[] = [
  { header: 'Process', narrow: 'title', cell: ({ name }) => name },
  { header: 'Status', isShort: true, narrow: 'figure', cell: ({ status }) => <Badge text={status} /> },
  { header: 'Checks', narrow: 'detail', cell: (process) => failedChecks(process) || 'ok' },
  { header: 'Responded in', isNumber: true, cell: ({ ms }) => `${Math.round(ms)} ms` },
]
