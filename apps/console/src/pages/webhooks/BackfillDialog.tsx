// Creates the deliveries that an endpoint never got, after a dry run that counts them.
import { TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { api, dataOf } from '../../api/api.ts'
import type { EndpointReport, Job } from '../../api/apiTypes.ts'
import { FollowedJob } from '../../jobs/JobView.tsx'
import { jobQuery } from '../../jobs/jobQueries.ts'
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx'
import { reasonHeader, useReason } from '../../parts/reason.tsx'
import { ErrorState } from '../../parts/states.tsx'
import { deliveriesText, webhookKeys } from './webhookKeys.ts'

export function BackfillDialog({ endpoint, close }: { readonly endpoint: EndpointReport; readonly close: () => void }) {
  const [from, setFrom] = useState('')
  const { reason, reasonField } = useReason()
  const { start, job, missing, isRunning } = useBackfill(endpoint.endpoint, { from: from.trim(), reason })
  const isSomething = missing !== undefined && missing > 0
  const isValid = /^\d{0,20}$/.test(from.trim())
  return (
    <ConfirmDialog
      opened
      title={`Backfill endpoint ${endpoint.endpoint}`}
      confirm={isSomething ? `Create ${deliveriesText(missing)}` : 'Count them (dry run)'}
      isRunning={start.isPending}
      isOver={isRunning || (job?.status === 'succeeded' && !isSomething)}
      close={close}
      submit={() => isValid && start.mutate(!isSomething)}
    >
      <p>
        Reads the log, applies the present configuration, and creates the deliveries that {endpoint.url ?? 'it'} never
        got. Nothing is sent twice.
      </p>
      <TextInput
        label="From position"
        description="0 or empty: from the start of the log"
        inputMode="numeric"
        value={from}
        disabled={isRunning}
        error={isValid ? undefined : 'A position is a number'}
        onChange={({ currentTarget }) => {
          setFrom(currentTarget.value)
          start.reset()
        }}
      />
      {isSomething && reasonField}
      {start.isError && <ErrorState error={start.error} />}
      {job && <FollowedJob id={job.id} />}
      {job && (
        <p className="hint">
          <Link to="/jobs/$id" params={{ id: job.id }}>
            This backfill among the jobs
          </Link>
        </p>
      )}
    </ConfirmDialog>
  )
}

/** @returns `missing` after a dry run: how many deliveries would be created */
function useBackfill(endpoint: string, { from, reason }: { readonly from: string; readonly reason: string }) {
  const client = useQueryClient()
  const start = useMutation({
    mutationFn: async (dry_run: boolean): Promise<Job> => {
      const body = { ...(from !== '' && { from }), dry_run }
      return await dataOf(api.backfillWebhooks({ path: { endpoint }, header: reasonHeader(reason), body }))
    },
    onSuccess(started) {
      client.setQueryData(jobQuery(started.id).queryKey, started)
      void client.invalidateQueries({ queryKey: ['jobs'], exact: true })
    },
  })
  const { data: job } = useQuery({ ...jobQuery(start.data?.id ?? ''), enabled: start.data !== undefined })
  const isOver = job !== undefined && job.status !== 'running'
  useEffect(() => {
    if (isOver) for (const queryKey of webhookKeys) void client.invalidateQueries({ queryKey })
  }, [client, isOver])
  const followed = start.data && (job ?? start.data)
  const result = followed?.status === 'succeeded' ? followed.result : null
  const missing = result?.dry_run === true && typeof result.missing === 'number' ? result.missing : undefined
  return { start, job: followed, missing, isRunning: followed?.status === 'running' }
}
