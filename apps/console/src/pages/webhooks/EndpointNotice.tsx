// What is wrong with an endpoint, and what to do about it.
import { Button } from '@mantine/core'
import type { EndpointReport } from '../../api/apiTypes.ts'
import { Notice } from '../../parts/Notice.tsx'
import { Time } from '../../parts/Time.tsx'
import { useMay } from '../../session/rights.ts'
import { deliveriesText } from './deliveriesText.ts'
import { type EndpointState, endpointState } from './endpointState.ts'
import { retriesText } from './retriesText.ts'

/** What can be done with an endpoint. */
export type EndpointAction = 'test' | 'enable' | 'redeliver' | 'backfill'

type Props = { readonly endpoint: EndpointReport; readonly start: (action: EndpointAction) => void }

/** Nothing where all is well. */
export function EndpointNotice({ endpoint, start }: Props) {
  const state = endpointState(endpoint, Date.now())
  const may = useMay()
  const title = titleOf(state)
  if (title === undefined) return null
  const { failed } = endpoint
  return (
    <Notice tone={state.tone} title={title}>
      <div className="noticeText">{adviceOf(state, endpoint)}</div>
      <div className="row">
        {state.kind === 'paused' && may('enableWebhookEndpoint') && (
          <Button size="xs" onClick={() => start('enable')}>
            Enable
          </Button>
        )}
        {failed > 0 && may('redeliverFailedWebhooks') && (
          <Button size="xs" variant={state.kind === 'missed' ? 'filled' : 'default'} onClick={() => start('redeliver')}>
            Redeliver what failed ({failed.toLocaleString()})
          </Button>
        )}
      </div>
    </Notice>
  )
}

function titleOf({ kind, text }: EndpointState): string | undefined {
  switch (kind) {
    case 'failing':
      return `Deliveries fail: ${text}`
    case 'paused':
      return `Paused: ${text}`
    case 'missed':
      return `It works again, but ${text}`
    case 'late':
      return `${text} to be sent`
    case 'removed':
      return 'This endpoint is not configured any more'
    default:
      return undefined
  }
}

function adviceOf({ kind, at }: EndpointState, { pending, failed, retry_schedule }: EndpointReport) {
  switch (kind) {
    case 'failing':
      return (
        <>
          <p>
            The last attempt failed at <Time value={at} />. {retry_schedule && `${retriesText(retry_schedule)} `}
            {pending > 0 && `${deliveriesText(pending)} will be tried again. `}
            {failed > 0 && `${deliveriesText(failed)} failed for good. `}
          </p>
          <p>Ask whoever runs the endpoint. Once it works, send a test, then redeliver what failed.</p>
        </>
      )
    case 'paused':
      return (
        <p>
          It responded 410 Gone at <Time value={at} />, which asks to send nothing more. What happens since then waits.
          Once the endpoint wants deliveries again, enable it: they are sent then.
        </p>
      )
    case 'missed':
      return <p>Redeliver them: each has the same id, so that a receiver which got one ignores it.</p>
    case 'late':
      return (
        <p>
          The oldest waits since <Time value={at} />. Look under System whether the worker runs.
        </p>
      )
    default:
      return <p>Its deliveries are kept. They are sent when it is configured again, under the same number.</p>
  }
}
