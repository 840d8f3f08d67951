// One job: its progress and a button that cancels it, then its result or why there is none.
import { Button } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { ActionOutcome } from '../actions/ActionOutcome.tsx'
import { useAction } from '../actions/useAction.ts'
import { api, dataOf } from '../api/api.ts'
import type { Job } from '../api/apiTypes.ts'
import { LogProgress } from '../parts/LogProgress.tsx'
import { Notice } from '../parts/Notice.tsx'
import { ErrorState, LoadingState } from '../parts/states.tsx'
import { useIdentity } from '../session/identity.ts'
import { JobResult } from './JobResult.tsx'
import { jobQuery } from './jobQueries.ts'
import { jobNoun } from './jobTitle.ts'

/** A job that is followed until it ends. */
export function FollowedJob({ id }: { readonly id: string }) {
  const query = useQuery(jobQuery(id))
  if (query.data === undefined) {
    return query.isError ? (
      <ErrorState error={query.error} retry={() => void query.refetch()} />
    ) : (
      <LoadingState what="the job" rows={2} />
    )
  }
  return (
    <>
      {query.isError && <ErrorState error={query.error} retry={() => void query.refetch()} />}
      <JobView job={query.data} />
    </>
  )
}

function JobView({ job }: { readonly job: Job }) {
  return (
    <div className="stack" aria-live="polite">
      {job.status === 'running' && <RunningJob job={job} />}
      {job.status === 'succeeded' && <JobResult job={job} />}
      {job.status === 'failed' && (
        <Notice tone="bad" title="It failed">
          {job.error}
        </Notice>
      )}
      {job.status === 'canceled' && (
        <Notice tone="quiet" title="It was canceled">
          Nothing is half done.
        </Notice>
      )}
      {job.status === 'interrupted' && (
        <Notice tone="warn" title="It was interrupted">
          Its process ended. Nothing is lost: start it again, and it continues.
        </Notice>
      )}
    </div>
  )
}

function RunningJob({ job }: { readonly job: Job }) {
  const client = useQueryClient()
  const { rights } = useIdentity()
  const mayCancel = rights.includes('operate') || (job.kind === 'erase' && rights.includes('privacy'))
  const cancel = useAction({
    name: `cancel job ${job.id}`,
    effect: 'once',
    send: () => dataOf(api.cancelJob({ path: { id: job.id } })),
    onResponse: () => void client.invalidateQueries({ queryKey: ['jobs'] }),
  })
  const { step = 'starting', events = 0, position = null, head = null } = job.progress ?? {}
  const isCanceling = cancel.isRunning || cancel.result !== undefined
  return (
    <>
      <LogProgress label={step.replaceAll('_', ' ')} events={events} position={position} head={head} />
      <p className="hint">It runs in the process that serves the console, and continues when this page is closed.</p>
      <ActionOutcome action={cancel} success={null} />
      {mayCancel && (
        <div>
          <Button size="xs" variant="default" loading={isCanceling} onClick={() => cancel.submit(undefined)}>
            Cancel the {jobNoun(job)}
          </Button>
        </div>
      )}
    </>
  )
}
