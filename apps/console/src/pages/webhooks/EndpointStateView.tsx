// The state of an endpoint in a badge, and in words.
import { useState } from 'react'
import type { EndpointReport } from '../../api/apiTypes.ts'
import { Badge } from '../../parts/Badge.tsx'
import { Dash, Time } from '../../parts/Time.tsx'
import { type EndpointState, endpointState } from './endpointState.ts'

export function EndpointBadge({ endpoint }: { readonly endpoint: EndpointReport }) {
  const [now] = useState(Date.now)
  const { word, tone } = endpointState(endpoint, now)
  return <Badge text={word} tone={tone} />
}

const timeWords: Partial<Readonly<Record<EndpointState['kind'], string>>> = {
  healthy: 'last delivery',
  failing: 'last attempt',
  paused: 'since',
  late: 'since',
}

/** What the badge does not say. */
export function EndpointStateText({ endpoint }: { readonly endpoint: EndpointReport }) {
  const [now] = useState(Date.now)
  const { kind, text, at } = endpointState(endpoint, now)
  if (text === undefined && at === undefined) return <Dash />
  return (
    <span className="wrap">
      {text}
      {text !== undefined && at !== undefined && ', '}
      {at !== undefined && (
        <>
          {timeWords[kind]} <Time value={at} />
        </>
      )}
    </span>
  )
}
