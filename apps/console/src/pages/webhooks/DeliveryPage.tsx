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
import { DeliveryRequest } from './DeliveryRequest.tsx'
import { DeliveryBadges, StreamLink } from './deliveryColumns.tsx'
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
  const failure = query.isError && <ErrorState error={query.error} retry={() => void query.refetch()} />
  return (
    <Page
      title={delivery === undefined ? 'Delivery' : `${delivery.event} to endpoint ${delivery.endpoint}`}
      lead={<Link to="/webhooks">All webhooks</Link>}
      actions={
        delivery && (
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
  const { id, mode, provider, source, next_attempt_at, created_at, ended_at, tries } = delivery
  return (
    <div className="panels">
      <Panel title="Delivery">
        <Facts
          facts={[
            ['Status', <DeliveryBadges key="status" delivery={delivery} />],
            ['Id', <Identifier key="id" name="delivery id" value={id} />],
            ['About', <StreamLink key="about" stream={source.stream} />],
            ['Stream', <code key="stream">{source.stream}</code>],
            ['Event in the log', <code key="event">{source.event_id}</code>],
            ['Mode', mode],
            ['Provider', provider],
            ['Created', <Time key="created" value={created_at} />],
            ['Ended', <Time key="ended" value={ended_at} />],
            ['Next attempt', <Time key="next" value={next_attempt_at} />],
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

const tryColumns: readonly Column<DeliveryTry & { readonly number: number }>[] = [
  { header: 'Attempt', isNumber: true, cell: ({ number }) => number },
  { header: 'Time', cell: ({ at }) => <Time value={at} /> },
  { header: 'Took', isNumber: true, cell: ({ ms }) => `${ms.toLocaleString()} ms` },
  {
    header: 'Result',
    cell: ({ error }) =>
      error === null ? <Badge text="succeeded" /> : <Badge text={error.replaceAll('_', ' ')} tone="bad" />,
  },
  { header: 'HTTP', isNumber: true, cell: ({ http_status }) => http_status ?? <Dash /> },
  {
    header: 'Response',
    cell: ({ response }) => (response ? <code className="wrap">{visibleText(response)}</code> : <Dash />),
  },
]
