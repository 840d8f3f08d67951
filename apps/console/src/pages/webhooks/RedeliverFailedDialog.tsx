// Sends all failed deliveries of an endpoint again, after a dry run that counts them.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ActionDialog } from '../../actions/ActionDialog.tsx'
import { useAction } from '../../actions/useAction.ts'
import { api, dataOf } from '../../api/api.ts'
import type { EndpointReport } from '../../api/apiTypes.ts'
import { TimeField } from '../../parts/fields.tsx'
import { Notice } from '../../parts/Notice.tsx'
import { reasonHeader, useReason } from '../../parts/reason.tsx'
import { ErrorState, LoadingState } from '../../parts/states.tsx'
import { deliveriesText } from './deliveriesText.ts'
import { endpointName } from './endpointName.ts'
import { useWebhookRefresh } from './webhookQueries.ts'

type Input = { readonly since: string | undefined; readonly reason: string }
type Redelivered = { readonly deliveries: number; readonly held: number; readonly is_complete: boolean }

const bodyOf = (since: string | undefined, dry_run: boolean) => ({ ...(since !== undefined && { since }), dry_run })

export function RedeliverFailedDialog(props: { readonly endpoint: EndpointReport; readonly close: () => void }) {
  const { endpoint } = props.endpoint
  const { reason, reasonField } = useReason()
  const [since, setSince] = useState<string>()
  const count = useQuery({
    queryKey: ['webhook-endpoints', endpoint, 'failed', since],
    queryFn: ({ signal }): Promise<Redelivered> =>
      dataOf(api.redeliverFailedWebhooks({ path: { endpoint }, body: bodyOf(since, true), signal })),
    staleTime: 0,
  })
  const redeliver = useAction({
    name: `redeliver failed of ${endpoint}`,
    effect: 'each time',
    send: (input: Input): Promise<Redelivered> =>
      dataOf(
        api.redeliverFailedWebhooks({
          path: { endpoint },
          header: reasonHeader(input.reason),
          body: bodyOf(input.since, false),
        }),
      ),
    onResponse: useWebhookRefresh(),
  })
  const done = redeliver.result
  const deliveries = count.data?.deliveries ?? 0
  return (
    <ActionDialog
      title={`Redeliver what ${endpointName(props.endpoint)} did not accept`}
      action={redeliver}
      confirm={done ? 'Continue' : `Send ${deliveriesText(deliveries)} again`}
      fields={
        !done && (
          <>
            <TimeField label="What failed since" value={since} change={setSince} />
            {reasonField}
          </>
        )
      }
      report={
        <>
          {!done && count.isError && <ErrorState error={count.error} retry={() => void count.refetch()} />}
          {!done && count.isPending && <LoadingState what="the number of failed deliveries" rows={1} />}
          {!done && count.data && <Counted {...count.data} />}
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
        if (done !== undefined || deliveries > 0) redeliver.again({ since, reason })
      }}
    >
      <p>
        Each is sent with the same id and body as before, and retried by the schedule again. Without a time, all failed
        ones that are kept are sent.
      </p>
    </ActionDialog>
  )
}

/** What the dry run found. */
function Counted({ deliveries, held }: Redelivered) {
  return (
    <Notice
      role="status"
      tone={deliveries > 0 ? 'warn' : 'quiet'}
      title={deliveries > 0 ? `${deliveriesText(deliveries)} would be sent again` : 'Nothing failed since then'}
    >
      {held > 0 ? 'The endpoint is paused: they wait until it is enabled.' : 'Nothing was sent yet.'}
    </Notice>
  )
}

const sentText = ({ deliveries, held }: Redelivered) =>
  `${deliveriesText(deliveries)} ${deliveries === 1 ? 'is' : 'are'} ${held > 0 ? 'sent once the endpoint is enabled' : 'sent again'}`
