// How the system does: one sentence, then processes, the log, read models, and long work.
import { useQuery } from '@tanstack/react-query'
import { Notice } from '../../parts/Notice.tsx'
import { Page } from '../../parts/Page.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { QueryTable } from '../../parts/QueryTable.tsx'
import { JobsPanel } from './JobsPanel.tsx'
import { LogPanel } from './LogPanel.tsx'
import { ProcessesPanel } from './ProcessesPanel.tsx'
import { ReadModelsPanel } from './ReadModelsPanel.tsx'
import { systemProblems } from './systemHealth.ts'
import { projectionsQuery, systemQuery } from './systemQueries.ts'
import { tableColumns, tablesOf } from './tableColumns.tsx'

export function SystemPage() {
  return (
    <Page title="System" lead="The processes of Paylog, the log, the read models, and jobs">
      <div className="panels">
        <Health />
        <ProcessesPanel />
        <LogPanel />
        <ReadModelsPanel />
        <JobsPanel />
        <TablesPanel />
      </div>
    </Page>
  )
}

/** The whole in one sentence; nothing before it is known. */
function Health() {
  const { data: system } = useQuery(systemQuery)
  const { data: projections } = useQuery(projectionsQuery)
  if (system === undefined || projections === undefined) return null
  const problems = systemProblems(system, projections.data)
  if (problems.length === 0)
    return (
      <Notice role="status" tone="good" title="Everything runs">
        All processes are ready, the read models are up to date, and the log verifies.
      </Notice>
    )
  return (
    <Notice
      role="status"
      tone="bad"
      title={problems.length === 1 ? 'One thing needs somebody' : `${problems.length} things need somebody`}
    >
      <ul>
        {problems.map((problem) => (
          <li key={problem}>{problem}.</li>
        ))}
      </ul>
    </Notice>
  )
}

function TablesPanel() {
  const query = useQuery(projectionsQuery)
  return (
    <Panel title="Tables of the read models" isFlush>
      <QueryTable
        what="tables"
        query={query}
        rowsOf={({ data }) => tablesOf(data)}
        columns={tableColumns}
        rowKey={({ table }) => table}
        empty={{ title: 'No tables' }}
      />
    </Panel>
  )
}
