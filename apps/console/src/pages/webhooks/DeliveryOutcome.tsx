// How a delivery went so far, and what happens next.
import { Link } from '@tanstack/react-router'
import type { DeliveryDetails } from '../../api/apiTypes.ts'
import type { Tone } from '../../parts/Badge.tsx'
import { Notice } from '../../parts/Notice.tsx'
import { Time } from '../../parts/Time.tsx'
import { failureText } from './failureText.ts'

const tones: Readonly<Record<DeliveryDetails['status'], Tone>> = {
  succeeded: 'good',
  failed: 'bad',
  held: 'warn',
  pending: 'busy',
}

export function DeliveryOutcome({ delivery }: { readonly delivery: DeliveryDetails }) {
  const { status, endpoint, next_attempt_at, last_attempt_at, ended_at } = delivery
  return (
    <Notice tone={tones[status]} title={outcomeOf(delivery)}>
      {status === 'succeeded' && (
        <p>
          Accepted at <Time value={ended_at} />.
        </p>
      )}
      {status === 'failed' && (
        <p>
          The last attempt was at <Time value={last_attempt_at} />. It is not tried again: redeliver it once the{' '}
          <EndpointLink id={endpoint}>endpoint</EndpointLink> works.
        </p>
      )}
      {status === 'held' && (
        <p>
          The <EndpointLink id={endpoint}>endpoint</EndpointLink> is paused. It is sent when somebody enables it.
        </p>
      )}
      {status === 'pending' && next_attempt_at !== null && (
        <p>
          The next attempt is at <Time value={next_attempt_at} />.
        </p>
      )}
      {status === 'pending' && next_attempt_at === null && (
        <p>
          The <EndpointLink id={endpoint}>endpoint</EndpointLink> is not configured. It is sent when it is again.
        </p>
      )}
    </Notice>
  )
}

function EndpointLink({ id, children }: { readonly id: string; readonly children: string }) {
  return (
    <Link to="/webhooks/endpoints/$id" params={{ id }}>
      {children}
    </Link>
  )
}

function outcomeOf({ status, attempts, last_error, last_http_status }: DeliveryDetails): string {
  const tried = attempts === 1 ? '1 attempt' : `${attempts} attempts`
  if (status === 'succeeded') return attempts === 1 ? 'Delivered at the first attempt' : `Delivered after ${tried}`
  if (last_error === null) return status === 'held' ? 'Waiting' : 'About to be sent'
  const why = failureText(last_error, last_http_status)
  if (status === 'failed') return `Not delivered: ${tried} failed, the last one with ${why}`
  return `Not delivered yet: ${tried} failed, the last one with ${why}`
}
