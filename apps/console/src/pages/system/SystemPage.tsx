// How the system does: processes, read models, and jobs that replay the log.
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, bodyOf } from '../../api/api.ts'
import type { ProjectionReport } from '../../api/apiTypes.ts'
import { pollMs } from '../../api/queryClient.ts'
import { CsvButton } from '../../parts/CsvButton.tsx'
import type { Column } from '../../parts/DataTable.tsx'
import { totalOf } from '../../parts/ListTotal.tsx'
import { Page } from '../../parts/Page.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { QueryTable } from '../../parts/QueryTable.tsx'
import { useMay } from '../../session/rights.ts'
import { JobsPanel } from './JobsPanel.tsx'
import { ProcessesPanel } from './ProcessesPanel.tsx'
import { projectionColumns, tableColumns, tablesOf } from './projectionColumns.tsx'
import { type Replay, ReplayDialog } from './ReplayDialog.tsx'

export function SystemPage() {
  const [replay, setReplay] = useState<Replay>()
  const may = useMay()
  const query = useQuery({
    queryKey: ['projections'],
    queryFn: ({ signal }) => bodyOf(api.listProjections({ signal })),
    refetchInterval: pollMs,
  })
  const columns: readonly Column<ProjectionReport>[] = may('rebuildProjection')
    ? [
        ...projectionColumns,
        { header: 'Actions', narrow: 'detail', cell: (report) => <Actions report={report} start={setReplay} /> },
      ]
    : projectionColumns
  return (
    <Page title="System" lead="Processes, read models and long work">
      <div className="panels">
        <ProcessesPanel />
        <Panel
          title="Read models"
          isFlush
          actions={<CsvButton operation="listProjections" meta={totalOf(query.data)} />}
        >
          <p className="panelTop hint">
            Lists and pages show read models: tables that are filled from the log of events. One that is behind shows
            what was true a moment ago; no payment is lost by it. A rebuild fills it again from the log.
          </p>
          <QueryTable
            what="read models"
            query={query}
            rowsOf={({ data }) => data}
            columns={columns}
            rowKey={({ projection }) => projection}
            isMarked={({ stopped_because, is_running }) => stopped_because !== null || !is_running}
            empty={{ title: 'No read models', hint: 'Nothing has migrated the database yet.' }}
          />
        </Panel>
        <JobsPanel />
        <Panel title="Tables" isFlush>
          <QueryTable
            what="tables"
            query={query}
            rowsOf={({ data }) => tablesOf(data)}
            columns={tableColumns}
            rowKey={({ table }) => table}
            empty={{ title: 'No tables' }}
          />
        </Panel>
      </div>
      {replay && <ReplayDialog replay={replay} close={() => setReplay(undefined)} />}
    </Page>
  )
}

function Actions(props: { readonly report: ProjectionReport; readonly start: (replay: Replay) => void }) {
  const { projection, is_rebuilding, is_verifying } = props.report
  return (
    <span className="row">
      <Button
        size="compact-xs"
        variant="default"
        disabled={is_verifying}
        aria-label={`Verify ${projection}`}
        onClick={() => props.start({ kind: 'verify', report: props.report })}
      >
        Verify
      </Button>
      <Button
        size="compact-xs"
        variant="default"
        disabled={is_rebuilding}
        aria-label={`Rebuild ${projection}`}
        onClick={() => props.start({ kind: 'rebuild', report: props.report })}
      >
        Rebuild
      </Button>
    </span>
  )
}
