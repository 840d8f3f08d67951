// The read models: their state in words, and what can be done with each.
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { ProjectionReport } from '../../api/apiTypes.ts'
import { Badge } from '../../parts/Badge.tsx'
import { CsvButton } from '../../parts/CsvButton.tsx'
import type { Column } from '../../parts/DataTable.tsx'
import { totalOf } from '../../parts/ListTotal.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { QueryTable } from '../../parts/QueryTable.tsx'
import { Dash } from '../../parts/Time.tsx'
import { useMay } from '../../session/rights.ts'
import { type Replay, ReplayDialog } from './ReplayDialog.tsx'
import { liveTable, purposeOf, readModelName, readModelState } from './readModels.ts'
import { projectionsQuery } from './systemQueries.ts'

export function ReadModelsPanel() {
  const [replay, setReplay] = useState<Replay>()
  const may = useMay()
  const query = useQuery(projectionsQuery)
  const columns = may('rebuildProjection') ? [...readModelColumns, actionsColumn(setReplay)] : readModelColumns
  return (
    <Panel title="Read models" isFlush actions={<CsvButton operation="listProjections" meta={totalOf(query.data)} />}>
      <p className="panelTop hint">
        Lists and searches show read models: tables that are filled from the log. One that is behind shows what was true
        a moment ago. No payment is lost by it, and a rebuild fills it again from the log.
      </p>
      <QueryTable
        what="read models"
        query={query}
        rowsOf={({ data }) => data}
        columns={columns}
        rowKey={({ projection }) => projection}
        empty={{ title: 'No read models', hint: 'Nothing has migrated the database yet: npm run -s ops -- migrate.' }}
      />
      {replay && <ReplayDialog replay={replay} close={() => setReplay(undefined)} />}
    </Panel>
  )
}

const readModelColumns: readonly Column<ProjectionReport>[] = [
  {
    header: 'Read model',
    narrow: 'title',
    cell: ({ projection }) => readModelName(projection),
    note: ({ projection }) => purposeOf(projection),
  },
  {
    header: 'State',
    narrow: 'figure',
    cell: (report) => <StateBadges report={report} />,
    note: (report) => readModelState(report).advice,
  },
  {
    header: 'Rows',
    isNumber: true,
    cell: (report) => liveTable(report)?.rows.toLocaleString() ?? <Dash />,
    note: (report) => `schema version ${liveTable(report)?.schema_version ?? '–'}`,
  },
]

function StateBadges({ report }: { readonly report: ProjectionReport }) {
  const { word, tone } = readModelState(report)
  return (
    <span className="badges">
      <Badge text={word} tone={tone} />
      {report.is_rebuilding && <Badge text="rebuilding" tone="busy" />}
      {report.is_verifying && <Badge text="verifying" tone="busy" />}
    </span>
  )
}

const actionsColumn = (start: (replay: Replay) => void): Column<ProjectionReport> => ({
  header: 'Actions',
  narrow: 'detail',
  cell: (report) => {
    const { projection, is_rebuilding, is_verifying } = report
    return (
      <span className="row nowrap">
        <Button
          size="compact-xs"
          variant="default"
          disabled={is_verifying}
          aria-label={`Verify ${projection}`}
          onClick={() => start({ kind: 'verify', report })}
        >
          Verify
        </Button>
        <Button
          size="compact-xs"
          variant="default"
          disabled={is_rebuilding}
          aria-label={`Rebuild ${projection}`}
          onClick={() => start({ kind: 'rebuild', report })}
        >
          Rebuild
        </Button>
      </span>
    )
  },
})
