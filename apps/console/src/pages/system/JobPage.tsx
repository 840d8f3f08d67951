// One rebuild, verification or backfill.
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { FollowedJob } from '../../jobs/JobView.tsx'
import { jobQuery } from '../../jobs/jobQueries.ts'
import { jobTitle } from '../../jobs/jobTitle.ts'
import { Badge } from '../../parts/Badge.tsx'
import { Facts } from '../../parts/Facts.tsx'
import { Page } from '../../parts/Page.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { Time } from '../../parts/Time.tsx'

const route = getRouteApi('/system/jobs/$id')

export function JobPage() {
  const { id } = route.useParams()
  const { data: job } = useQuery(jobQuery(id))
  return (
    <Page title={job === undefined ? 'Job' : jobTitle(job)} lead={<Link to="/system">All jobs</Link>}>
      <div className="panels">
        {job && (
          <Panel title="Job">
            <Facts
              facts={[
                ['Status', <Badge key="status" text={job.status} />],
                ['Requested by', job.requested_by],
                ['Started', <Time key="started" value={job.created_at} />],
                ['Ended', <Time key="ended" value={job.ended_at} />],
              ]}
            />
          </Panel>
        )}
        <Panel title={job?.status === 'running' ? 'Progress' : 'Result'}>
          <FollowedJob id={id} />
        </Panel>
      </div>
    </Page>
  )
}
