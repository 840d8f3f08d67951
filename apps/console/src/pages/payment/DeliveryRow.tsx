// A webhook below the event that it is about, with its attempts when it is opened.
import { UnstyledButton } from '@mantine/core'
import { visibleText } from '@paylog/domain/visibleText'
import { useQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import type { Delivery, DeliveryTry } from '../../api/apiTypes.ts'
import { deliveryQuery } from '../../api/paymentQueries.ts'
import { Badge } from '../../parts/Badge.tsx'
import { type Column, DataTable } from '../../parts/DataTable.tsx'
import { JsonView } from '../../parts/JsonView.tsx'
import { EmptyState, ErrorState, LoadingState } from '../../parts/states.tsx'
import { Dash, Time } from '../../parts/Time.tsx'
import { erasedBody } from '../webhooks/DeliveryRequest.tsx'

export function DeliveryRow({ delivery }: { readonly delivery: Delivery }) {
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  const { event, endpoint, status, attempts, last_http_status, is_test } = delivery
  return (
    <li>
      <div className="eventLine">
        <UnstyledButton
          className="deliveryTitle"
          aria-expanded={isOpen}
          aria-controls={id}
          onClick={() => setOpen(!isOpen)}
        >
          {event} to {endpoint}
        </UnstyledButton>
        <Badge text={status} />
        {is_test && <Badge text="test" />}
        <span className="hint">
          {attempts === 1 ? '1 attempt' : `${attempts} attempts`}
          {last_http_status !== null && `, HTTP ${last_http_status}`}
        </span>
      </div>
      <div id={id} hidden={!isOpen}>
        {isOpen && <DeliveryDetails id={delivery.id} />}
      </div>
    </li>
  )
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
    </div>
  )
}

const attemptColumns: readonly Column<DeliveryTry>[] = [
  { header: 'Time', cell: ({ at }) => <Time value={at} /> },
  { header: 'Took', isNumber: true, cell: ({ ms }) => `${ms} ms` },
  { header: 'HTTP', isNumber: true, cell: ({ http_status }) => http_status ?? <Dash /> },
  { header: 'Error', cell: ({ error }) => error ?? <Dash /> },
  { header: 'Response', cell: ({ response }) => (response ? <code>{visibleText(response)}</code> : <Dash />) },
]
