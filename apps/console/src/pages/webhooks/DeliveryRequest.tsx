// The request of a delivery: address, headers and the exact body.
import { Button } from '@mantine/core'
import { useState } from 'react'
import type { DeliveryDetails } from '../../api/apiTypes.ts'
import { Facts } from '../../parts/Facts.tsx'
import { JsonView } from '../../parts/JsonView.tsx'
import { Panel } from '../../parts/Panel.tsx'

export const erasedBody =
  'Personal data in the body was erased. What is sent again is built from the log, without what was erased.'

export function DeliveryRequest({ delivery }: { readonly delivery: DeliveryDetails }) {
  const { url, headers, payload } = delivery
  const [isPretty, setPretty] = useState(false)
  const pretty = payload === null ? undefined : prettyOf(payload)
  return (
    <Panel
      title="Request"
      actions={
        pretty !== undefined && (
          <Button size="compact-xs" variant="default" onClick={() => setPretty(!isPretty)}>
            {isPretty ? 'Exact body' : 'Pretty-print'}
          </Button>
        )
      }
    >
      <div className="stack">
        <Facts
          facts={[
            [
              'POST',
              <span key="url" className="longText">
                {url ?? 'the endpoint is not configured any more'}
              </span>,
            ],
            ...Object.entries(headers).map(([name, value]) => [name, <code key={name}>{value}</code>] as const),
          ]}
        />
        {payload === null ? (
          <p className="hint">{erasedBody}</p>
        ) : (
          <JsonView
            label={isPretty ? 'Body, pretty-printed' : 'Exact body'}
            value={isPretty && pretty ? pretty : payload}
          />
        )}
      </div>
    </Panel>
  )
}

/** @returns undefined for a body that is not JSON */
function prettyOf(payload: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(payload), null, 2)
  } catch {
    return undefined
  }
}
