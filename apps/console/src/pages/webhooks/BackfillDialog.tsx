// Creates the deliveries that an endpoint never got, after a dry run that counts them.
import { TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ActionDialog } from '../../actions/ActionDialog.tsx'
import { type Send, useAction } from '../../actions/useAction.ts'
import { api, dataOf } from '../../api/api.ts'
import type { EndpointReport, Job } from '../../api/apiTypes.ts'
import { JobLink } from '../../jobs/JobLink.tsx'
import { FollowedJob } from '../../jobs/JobView.tsx'
import { jobQuery } from '../../jobs/jobQueries.ts'
import { useJobEnd } from '../../jobs/useJobEnd.ts'
import { reasonHeader, useReason } from '../../parts/reason.tsx'
import { deliveriesText } from './deliveriesText.ts'
import { endpointName } from './endpointName.ts'
import { useWebhookRefresh } from './webhookQueries.ts'

type Input = { readonly from: string; readonly reason: string }

export function BackfillDialog({ endpoint, close }: { readonly endpoint: EndpointReport; readonly close: () => void }) {
  const [text, setText] = useState('')
  const from = text.trim()
  const { reason, reasonField } = useReason()
  const { count, create, missing, isCounting } = useBackfill(endpoint.endpoint)
  const isSomething = missing !== undefined && missing > 0
  const isValid = /^\d{0,20}$/.test(from)
  const job = create.result ?? count.result
  return (
    <ActionDialog
      title={`Backfill ${endpointName(endpoint)}`}
      action={create}
      dryRun={{ ...count, isRunning: count.isRunning || isCounting }}
      confirm={isSomething ? `Create ${deliveriesText(missing)}` : 'Count them (dry run)'}
      fields={
        <>
          <TextInput
            label="From position"
            description="0 or empty: from the start of the log"
            inputMode="numeric"
            value={text}
            error={isValid ? undefined : 'A position is a number'}
            onChange={({ currentTarget }) => {
              setText(currentTarget.value)
              count.reset()
            }}
          />
          {isSomething && reasonField}
        </>
      }
      report={job && <FollowedJob id={job.id} />}
      done="Started"
      success={create.result && <JobLink job={create.result}>It goes on when this is closed.</JobLink>}
      close={close}
      submit={() => {
        if (isValid) (isSomething ? create : count).again({ from, reason })
      }}
    >
      <p>
        Reads the log from its beginning and creates the deliveries that this endpoint never got, for example from
        before it was added. Nothing is sent twice.
      </p>
    </ActionDialog>
  )
}

/** @returns `missing` after a dry run: how many deliveries would be created */
function useBackfill(endpoint: string) {
  const client = useQueryClient()
  const refresh = useWebhookRefresh()
  const sendWith =
    (dry_run: boolean): Send<Input, Job> =>
    async ({ from, reason }) => {
      const body = { ...(from !== '' && { from }), dry_run }
      const started = await dataOf(api.backfillWebhooks({ path: { endpoint }, header: reasonHeader(reason), body }))
      client.setQueryData(jobQuery(started.id).queryKey, started)
      return started
    }
  const onResponse = () => void client.invalidateQueries({ queryKey: ['jobs'], exact: true })
  const count = useAction({ name: `count backfill ${endpoint}`, effect: 'none', send: sendWith(true), onResponse })
  const create = useAction({ name: `backfill ${endpoint}`, effect: 'each time', send: sendWith(false), onResponse })
  const started = create.result ?? count.result
  const job = useJobEnd(started, refresh)
  const result = job?.status === 'succeeded' ? job.result : null
  const missing = result?.dry_run === true && typeof result.missing === 'number' ? result.missing : undefined
  return { count, create, missing, isCounting: create.result === undefined && job?.status === 'running' }
}
