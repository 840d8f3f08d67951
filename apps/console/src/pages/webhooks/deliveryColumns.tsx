// The columns of a list of deliveries.
import { Link } from '@tanstack/react-router'
import type { Delivery } from '../../api/apiTypes.ts'
import { Badge } from '../../parts/Badge.tsx'
import type { Column } from '../../parts/DataTable.tsx'
import { Dash, Time } from '../../parts/Time.tsx'
import { failureText } from './failureText.ts'

const endpointColumn = (nameOf: (id: string) => string): Column<Delivery> => ({
  header: 'Endpoint',
  narrow: 'detail',
  cell: ({ endpoint }) => <span className="wrap">{nameOf(endpoint)}</span>,
})

/** @param nameOf names an endpoint by its id; undefined where all deliveries are to the same one */
export const deliveryColumns = (nameOf: ((id: string) => string) | undefined): readonly Column<Delivery>[] => [
  {
    header: 'Event',
    narrow: 'title',
    cell: ({ event }) => <span className="wrap">{event}</span>,
  },
  ...(nameOf ? [endpointColumn(nameOf)] : []),
  { header: 'Status', isShort: true, narrow: 'figure', cell: (delivery) => <DeliveryBadges delivery={delivery} /> },
  {
    header: 'Last response',
    cell: (delivery) => <LastResponse delivery={delivery} />,
    note: ({ attempts }) => (attempts === 1 ? '1 attempt' : `${attempts} attempts`),
  },
  { header: 'About', isShort: true, narrow: 'detail', cell: ({ source }) => <StreamLink stream={source.stream} /> },
  {
    header: 'Created',
    narrow: 'detail',
    cell: ({ created_at }) => <Time value={created_at} />,
    note: ({ next_attempt_at }) =>
      next_attempt_at && (
        <>
          next attempt <Time value={next_attempt_at} />
        </>
      ),
  },
]

export function DeliveryBadges({ delivery }: { readonly delivery: Pick<Delivery, 'status' | 'is_test'> }) {
  return (
    <span className="badges">
      <Badge text={delivery.status} />
      {delivery.is_test && <Badge text="test" />}
    </span>
  )
}

function LastResponse({ delivery }: { readonly delivery: Delivery }) {
  const { last_http_status, last_error } = delivery
  if (last_error !== null) return failureText(last_error, last_http_status)
  return last_http_status === null ? <Dash /> : `HTTP ${last_http_status}`
}

const streamName = /^(?<category>\w+)-(?<id>[0-9a-f-]{36})$/

/** The stream in short; a link to the payment when it is one's. */
export function StreamLink({ stream }: { readonly stream: string }) {
  const { category, id } = streamName.exec(stream)?.groups ?? {}
  if (category === undefined || id === undefined) return <span className="wrap">{stream}</span>
  // The end differs more than the beginning, which is the time.
  const short = `${category} …${id.slice(-6)}`
  if (category === 'webhookTest') return <span title={stream}>a test</span>
  if (category !== 'payment') return <span title={stream}>{short}</span>
  return (
    <Link to="/payments/$id" params={{ id }} className="rowLink" title={stream}>
      {short}
    </Link>
  )
}
