// Sends all failed deliveries of an endpoint again, after a dry run that counts them.
import { useState } from 'react'
import { ActionDialog } from '../../actions/ActionDialog.tsx'
import { type Send, useAction } from '../../actions/useAction.ts'
import { api, dataOf } from '../../api/api.ts'
import type { EndpointReport } from '../../api/apiTypes.ts'
import { TimeField } from '../../parts/fields.tsx'
import { Notice } from '../../parts/Notice.tsx'
import { reasonHeader, useReason } from '../../parts/reason.tsx'
import { deliveriesText, useWebhookRefresh } from './webhookQueries.ts'

type Input = { readonly since: string | undefined; readonly reason: string }
type Redelivered = { readonly deliveries: number; readonly is_complete: boolean }

export function RedeliverFailedDialog(props: { readonly endpoint: EndpointReport; readonly close: () => void }) {
  const { endpoint } = props.endpoint
  const { reason, reasonField } = useReason()
  const [since, setSince] = useState<string>()
  const sendWith =
    (dry_run: boolean): Send<Input, Redelivered> =>
    (input) => {
      const body = { ...(input.since !== undefined && { since: input.since }), dry_run }
      return dataOf(api.redeliverFailedWebhooks({ path: { endpoint }, header: reasonHeader(input.reason), body }))
    }
  const onResponse = useWebhookRefresh()
  const count = useAction({ name: `count failed of ${endpoint}`, effect: 'none', send: sendWith(true) })
  const name = `redeliver failed of ${endpoint}`
  const redeliver = useAction({ name, effect: 'each time', send: sendWith(false), onResponse })
  const counted = count.result?.deliveries
  const done = redeliver.result
  const isSomething = counted !== undefined && counted > 0
  const confirm = isSomething ? `Send ${deliveriesText(counted)} again` : 'Count them (dry run)'
  return (
    <ActionDialog
      title={`Redeliver what endpoint ${endpoint} did not accept`}
      action={redeliver}
      dryRun={count}
      confirm={done ? 'Continue' : confirm}
      fields={
        <>
          {!done && (
            <TimeField
              label="Failed since"
              value={since}
              change={(value) => {
                setSince(value)
                count.reset()
              }}
            />
          )}
          {isSomething && reasonField}
        </>
      }
      report={
        <>
          {counted !== undefined && !done && (
            <Notice
              role="status"
              tone={counted > 0 ? 'warn' : 'quiet'}
              title={`${deliveriesText(counted)} would be sent again`}
            >
              Nothing was sent yet.
            </Notice>
          )}
          {done?.is_complete === false && (
            <Notice role="status" tone="warn" title={sentText(done)}>
              There are more than one request handles.
            </Notice>
          )}
        </>
      }
      success={done?.is_complete ? sentText(done) : null}
      close={props.close}
      submit={() => {
        if (done === undefined && !isSomething) return count.again({ since, reason })
        redeliver.again({ since, reason })
      }}
    >
      <p>Failed deliveries are sent again with the same ids and bodies, and a new retry schedule.</p>
    </ActionDialog>
  )
}

const sentText = ({ deliveries }: Redelivered) =>
  `${deliveriesText(deliveries)} ${deliveries === 1 ? 'is' : 'are'} sent again`
