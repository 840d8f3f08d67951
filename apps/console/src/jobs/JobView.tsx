// One job: its progress and a button that cancels it, then its result or why there is none.
import { Button } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { api, dataOf } from '../api/api.ts'
import type { Job } from '../api/apiTypes.ts'
import { LogProgress } from '../parts/LogProgress.tsx'
import { Notice } from '../parts/Notice.tsx'
import { ErrorState, LoadingState } from '../parts/states.tsx'
import { JobResult } from './JobResult.tsx'
import { jobQuery } from './jobQueries.ts'

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
  const cancel = useMutation({
    mutationFn: () => dataOf(api.cancelJob({ path: { id: job.id } })),
    onSettled: () => client.invalidateQueries({ queryKey: ['jobs'] }),
  })
  const { step = 'starting', events = 0, position = null, head = null } = job.progress ?? {}
  const isCanceling = cancel.isPending || cancel.isSuccess
  return (
    <>
      <LogProgress label={step.replaceAll('_', ' ')} events={events} position={position} head={head} />
      <p className="hint">It runs in the process that serves the console, and continues when this page is closed.</p>
      {cancel.isError && <ErrorState error={cancel.error} />}
      <div>
        <Button size="xs" variant="default" loading={isCanceling} onClick={() => cancel.mutate()}>
          Cancel the {job.kind}
        </Button>
      </div>
    </>
  )
}
