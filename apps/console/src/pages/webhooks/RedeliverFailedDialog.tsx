// Sends all failed deliveries of an endpoint again, after a dry run that counts them.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf } from '../../api/api.ts'
import type { EndpointReport } from '../../api/apiTypes.ts'
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx'
import { TimeFilter } from '../../parts/filters.tsx'
import { Notice } from '../../parts/Notice.tsx'
import { reasonHeader, useReason } from '../../parts/reason.tsx'
import { ErrorState } from '../../parts/states.tsx'
import { deliveriesText, webhookKeys } from './webhookKeys.ts'

export function RedeliverFailedDialog(props: { readonly endpoint: EndpointReport; readonly close: () => void }) {
  const { endpoint, close } = props
  const client = useQueryClient()
  const { reason, reasonField } = useReason()
  const [since, setSince] = useState<string>()
  const redeliver = useMutation({
    mutationFn: async (dry_run: boolean) => {
      const body = { ...(since !== undefined && { since }), dry_run }
      const path = { endpoint: endpoint.endpoint }
      return { dry_run, ...(await dataOf(api.redeliverFailedWebhooks({ path, header: reasonHeader(reason), body }))) }
    },
    onSettled: () => Promise.all(webhookKeys.map((queryKey) => client.invalidateQueries({ queryKey }))),
  })
  const counted = redeliver.data?.dry_run === true ? redeliver.data.deliveries : undefined
  const done = redeliver.data?.dry_run === false ? redeliver.data : undefined
  const isSomething = counted !== undefined && counted > 0
  return (
    <ConfirmDialog
      opened
      title={`Redeliver what endpoint ${endpoint.endpoint} did not accept`}
      confirm={isSomething ? `Send ${deliveriesText(counted)} again` : done ? 'Continue' : 'Count them (dry run)'}
      isRunning={redeliver.isPending}
      isOver={done?.is_complete === true}
      close={close}
      submit={() => redeliver.mutate(!isSomething && done === undefined)}
    >
      <p>Failed deliveries are sent again with the same ids and bodies, and a new retry schedule.</p>
      {!done && (
        <TimeFilter
          label="Failed since"
          value={since}
          change={(value) => {
            setSince(value)
            redeliver.reset()
          }}
        />
      )}
      {isSomething && reasonField}
      {counted !== undefined && (
        <Notice
          role="status"
          tone={counted > 0 ? 'warn' : 'quiet'}
          title={`${deliveriesText(counted)} would be sent again`}
        >
          Nothing was sent yet.
        </Notice>
      )}
      {done && (
        <Notice
          role="status"
          tone={done.is_complete ? 'good' : 'warn'}
          title={`${deliveriesText(done.deliveries)} ${done.deliveries === 1 ? 'is' : 'are'} sent again`}
        >
          {!done.is_complete && 'There are more than one request handles.'}
        </Notice>
      )}
      {redeliver.isError && <ErrorState error={redeliver.error} />}
    </ConfirmDialog>
  )
}
