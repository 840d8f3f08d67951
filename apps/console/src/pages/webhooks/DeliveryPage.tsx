// One delivery: its request, every try, its signature, and sending it again.
import { Button } from '@mantine/core'
import { visibleText } from '@paylog/domain/visibleText'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { DeliveryDetails, DeliveryTry } from '../../api/apiTypes.ts'
import { deliveryQuery } from '../../api/paymentQueries.ts'
import { Badge } from '../../parts/Badge.tsx'
import { type Column, DataTable } from '../../parts/DataTable.tsx'
import { Facts } from '../../parts/Facts.tsx'
import { Identifier } from '../../parts/Identifier.tsx'
import { Page } from '../../parts/Page.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { EmptyState, ErrorState, LoadingState } from '../../parts/states.tsx'
import { Dash, Time } from '../../parts/Time.tsx'
import { useMay } from '../../session/rights.ts'
import { DeliveryOutcome } from './DeliveryOutcome.tsx'
import { DeliveryRequest } from './DeliveryRequest.tsx'
import { DeliveryBadges, StreamLink } from './deliveryColumns.tsx'
import { useEndpointName } from './endpointName.ts'
import { failureText } from './failureText.ts'
import { RedeliverDialog } from './RedeliverDialog.tsx'
import { SignaturePanel } from './SignaturePanel.tsx'

const route = getRouteApi('/webhooks/deliveries/$id')
/** While it is sent. */
const sendingMs = 2_000

export function DeliveryPage() {
  const { id } = route.useParams()
  const query = useQuery({
    ...deliveryQuery(id),
    refetchInterval: ({ state }) => (state.data?.status === 'succeeded' ? false : sendingMs),
  })
  const delivery = query.data
  const [isAsking, setAsking] = useState(false)
  const nameOf = useEndpointName()
  const may = useMay()
  const failure = query.isError && <ErrorState error={query.error} retry={() => void query.refetch()} />
  return (
    <Page
      title={delivery === undefined ? 'Delivery' : `${delivery.event} to ${nameOf(delivery.endpoint)}`}
      lead={
        <span className="row">
          {delivery && <DeliveryBadges delivery={delivery} />}
          {delivery && <StreamLink stream={delivery.source.stream} />}
          <Link to="/webhooks">All deliveries</Link>
        </span>
      }
      actions={
        delivery &&
        may('redeliverWebhook') && (
          <Button size="xs" variant="default" onClick={() => setAsking(true)}>
            Redeliver
          </Button>
        )
      }
    >
      {failure}
      {delivery === undefined ? !failure && <LoadingState what="the delivery" /> : <Delivery delivery={delivery} />}
      {delivery && isAsking && <RedeliverDialog delivery={delivery} close={() => setAsking(false)} />}
    </Page>
  )
}

function Delivery({ delivery }: { readonly delivery: DeliveryDetails }) {
  const { id, endpoint, mode, provider, source, created_at, ended_at, tries } = delivery
  const nameOf = useEndpointName()
  return (
    <div className="panels">
      <DeliveryOutcome delivery={delivery} />
      <Panel title="Delivery">
        <Facts
          facts={[
            [
              'To',
              <Link key="to" to="/webhooks/endpoints/$id" params={{ id: endpoint }} className="wrap">
                {nameOf(endpoint)}
              </Link>,
            ],
            ['About', <StreamLink key="about" stream={source.stream} />],
            ['Created', <Time key="created" value={created_at} />],
            ['Ended', <Time key="ended" value={ended_at} />],
            ['Content', modes[mode]],
            ['Provider', provider],
            ['Id, the same at each attempt', <Identifier key="id" name="delivery id" value={id} />],
            ['Event in the log', <Identifier key="event" name="event id" value={source.event_id} />],
          ]}
        />
      </Panel>
      <Panel title="Attempts" isFlush>
        {tries.length === 0 ? (
          <EmptyState title="No attempt yet" />
        ) : (
          <DataTable
            caption="Attempts"
            columns={tryColumns}
            rows={tries.map((attempt, at) => ({ ...attempt, number: at + 1 }))}
            rowKey={({ number }) => String(number)}
          />
        )}
      </Panel>
      <DeliveryRequest delivery={delivery} />
      <SignaturePanel delivery={delivery} />
    </div>
  )
}

const modes: Readonly<Record<DeliveryDetails['mode'], string>> = {
  canonical: 'Paylog’s own event (canonical)',
  raw: 'what the provider sent (raw)',
  legacy: 'the short form (legacy)',
}

const tryColumns: readonly Column<DeliveryTry & { readonly number: number }>[] = [
  { header: 'Attempt', narrow: 'title', cell: ({ number }) => `Attempt ${number}` },
  {
    header: 'Result',
    narrow: 'figure',
    cell: ({ error, http_status }) =>
      error === null ? (
        <Badge text={`HTTP ${http_status}`} tone="good" />
      ) : (
        <Badge text={failureText(error, http_status)} tone="bad" />
      ),
  },
  { header: 'Time', narrow: 'detail', cell: ({ at }) => <Time value={at} /> },
  { header: 'Took', isNumber: true, narrow: 'detail', cell: ({ ms }) => `${ms.toLocaleString()} ms` },
  {
    header: 'Response',
    narrow: 'detail',
    cell: ({ response }) => (response ? <code className="wrap">{visibleText(response)}</code> : <Dash />),
  },
]
