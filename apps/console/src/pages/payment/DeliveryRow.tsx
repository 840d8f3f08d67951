// A webhook below the event that it is about: where it went, how it ended, and sending it again.
import { Button, UnstyledButton } from '@mantine/core'
import { visibleText } from '@paylog/domain/visibleText'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useId, useState } from 'react'
import type { Delivery, DeliveryTry } from '../../api/apiTypes.ts'
import { deliveryQuery } from '../../api/paymentQueries.ts'
import { Badge } from '../../parts/Badge.tsx'
import { type Column, DataTable } from '../../parts/DataTable.tsx'
import { JsonView } from '../../parts/JsonView.tsx'
import { EmptyState, ErrorState, LoadingState } from '../../parts/states.tsx'
import { Dash, Time } from '../../parts/Time.tsx'
import { useMay } from '../../session/rights.ts'
import { erasedBody } from '../webhooks/DeliveryRequest.tsx'
import { DeliveryBadges } from '../webhooks/deliveryColumns.tsx'
import { useEndpointName, useEndpoints } from '../webhooks/endpointName.ts'
import { failureText } from '../webhooks/failureText.ts'
import { RedeliverDialog } from '../webhooks/RedeliverDialog.tsx'

export function DeliveryRow({ delivery }: { readonly delivery: Delivery }) {
  const [isOpen, setOpen] = useState(false)
  const [isAsking, setAsking] = useState(false)
  const id = useId()
  const may = useMay()
  const name = useEndpointName()(delivery.endpoint)
  const { url = null } = useEndpoints()(delivery.endpoint) ?? {}
  const canResend = may('redeliverWebhook') && (delivery.status === 'failed' || delivery.status === 'succeeded')
  return (
    <li>
      <div className="deliveryLine">
        <div className="deliveryText">
          <div className="eventLine">
            <UnstyledButton
              className="deliveryTitle"
              aria-expanded={isOpen}
              aria-controls={id}
              onClick={() => setOpen(!isOpen)}
            >
              {delivery.event} to {name}
            </UnstyledButton>
            <DeliveryBadges delivery={delivery} />
          </div>
          <p className="hint">{outcomeText(delivery)}</p>
          {url !== null && (
            <p className="hint wrap">
              <Link to="/webhooks/endpoints/$id" params={{ id: delivery.endpoint }} className="rowLink">
                {url}
              </Link>
            </p>
          )}
        </div>
        {canResend && (
          <Button size="compact-xs" variant="default" onClick={() => setAsking(true)}>
            Redeliver
          </Button>
        )}
      </div>
      <div id={id} hidden={!isOpen}>
        {isOpen && <DeliveryDetails id={delivery.id} />}
      </div>
      {isAsking && <RedeliverDialog delivery={{ ...delivery, url }} close={() => setAsking(false)} />}
    </li>
  )
}

/** How the attempts went, in words. */
function outcomeText({ attempts, last_http_status, last_error }: Delivery): string {
  if (attempts === 0) return 'Not sent yet'
  const tries = attempts === 1 ? '1 attempt' : `${attempts} attempts`
  if (last_error !== null) return `${tries}, the last one with ${failureText(last_error, last_http_status)}`
  return last_http_status === null ? tries : `${tries}, HTTP ${last_http_status}`
}

function DeliveryDetails({ id }: { readonly id: string }) {
  const query = useQuery(deliveryQuery(id))
  if (query.data === undefined) {
    return query.isError ? (
      <ErrorState error={query.error} retry={() => void query.refetch()} />
    ) : (
      <LoadingState what="attempts" rows={2} />
    )
  }
  return (
    <div className="stack eventDetails">
      {query.data.tries.length === 0 ? (
        <EmptyState title="No attempt yet" />
      ) : (
        <DataTable caption="Attempts" columns={attemptColumns} rows={query.data.tries} rowKey={({ at }) => at} />
      )}
      {query.data.payload === null ? (
        <p className="hint">{erasedBody}</p>
      ) : (
        <JsonView label="Body of the webhook" value={query.data.payload} />
      )}
      <Link to="/webhooks/deliveries/$id" params={{ id }}>
        Everything about this delivery
      </Link>
    </div>
  )
}

const attemptColumns: readonly Column<DeliveryTry>[] = [
  { header: 'Time', narrow: 'title', cell: ({ at }) => <Time value={at} /> },
  {
    header: 'Result',
    isShort: true,
    narrow: 'figure',
    cell: ({ http_status, error }) => (
      <Badge
        text={error === null ? `HTTP ${http_status}` : failureText(error, http_status)}
        tone={error === null ? 'good' : 'bad'}
      />
    ),
  },
  { header: 'Took', isNumber: true, narrow: 'detail', cell: ({ ms }) => `${ms.toLocaleString()} ms` },
  {
    header: 'Response',
    narrow: 'detail',
    cell: ({ response }) => (response ? <code>{visibleText(response)}</code> : <Dash />),
  },
]
