// The newest jobs, also those of other administrators.
import { Progress } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Job } from '../../api/apiTypes.ts'
import { shareOf } from '../../jobs/jobProgress.ts'
import { jobsQuery } from '../../jobs/jobQueries.ts'
import { jobTitle } from '../../jobs/jobTitle.ts'
import { Badge } from '../../parts/Badge.tsx'
import { CsvButton } from '../../parts/CsvButton.tsx'
import type { Column } from '../../parts/DataTable.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { QueryTable } from '../../parts/QueryTable.tsx'
import { Dash, Time } from '../../parts/Time.tsx'

export function JobsPanel() {
  const query = useQuery(jobsQuery)
  return (
    <Panel title="Jobs" isFlush actions={<CsvButton operation="listJobs" />}>
      <QueryTable
        what="jobs"
        query={query}
        rowsOf={({ data }) => data}
        columns={columns}
        rowKey={({ id }) => id}
        rowLink={({ id }) => ({ to: '/system/jobs/$id', params: { id } })}
        empty={{ title: 'No jobs yet', hint: 'Rebuilds, verifications, backfills and erasures are listed here.' }}
      />
    </Panel>
  )
}

const columns: readonly Column<Job>[] = [
  { header: 'Job', narrow: 'title', cell: jobTitle, note: ({ requested_by }) => `requested by ${requested_by}` },
  { header: 'Status', isShort: true, narrow: 'figure', cell: ({ status }) => <Badge text={status} /> },
  { header: 'Outcome', narrow: 'detail', cell: outcomeOf },
  { header: 'Started', narrow: 'detail', cell: ({ created_at }) => <Time value={created_at} /> },
  { header: 'Ended', cell: ({ ended_at }) => <Time value={ended_at} /> },
]

function Running({ progress }: Pick<Job, 'progress'>) {
  const share = progress === null ? null : shareOf(progress.position, progress.head)
  if (progress === null || share === null) return 'starting'
  const percent = Math.floor(share * 100)
  return (
    <div className="jobProgress">
      {progress.step.replaceAll('_', ' ')}, {percent} %
      <Progress size="sm" value={percent} aria-label="Progress" />
    </div>
  )
}

function outcomeOf({ status, progress, error, result }: Job) {
  if (status === 'running') return <Running progress={progress} />
  if (status === 'interrupted') return 'Start it again: it continues'
  if (error !== null) return error
  if (typeof result?.outcome === 'string') return result.outcome
  if (result?.dry_run === true) return `dry run: ${result.missing} missing`
  return typeof result?.missing === 'number' ? `${result.missing} created` : <Dash />
}
