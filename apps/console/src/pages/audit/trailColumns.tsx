// The columns of the audit trail.
import { Link } from '@tanstack/react-router'
import type { AuditTrailEntry } from '../../api/apiTypes.ts'
import type { Column } from '../../parts/DataTable.tsx'
import { Dash, Time } from '../../parts/Time.tsx'
import { StreamLink } from '../webhooks/deliveryColumns.tsx'
import { actionText, detailsText } from './trailText.ts'

export const trailColumns: readonly Column<AuditTrailEntry>[] = [
  { header: 'Time', cell: ({ created_at }) => <Time value={created_at} /> },
  { header: 'Action', isShort: true, cell: ({ action }) => actionText(action) },
  { header: 'Target', cell: ({ target }) => (target === null ? <Dash /> : <Target {...target} />) },
  {
    header: 'Actor',
    cell: ({ actor }) => (
      <Link to="/audit" search={{ actor }} className="rowLink wrap">
        {actor}
      </Link>
    ),
  },
  { header: 'Reason', cell: ({ reason }) => (reason === null ? <Dash /> : <span className="wrap">{reason}</span>) },
  { header: 'Details', cell: ({ details }) => <span className="hint wrap">{detailsText(details)}</span> },
]

function Target({ kind, id }: NonNullable<AuditTrailEntry['target']>) {
  const text = `${kind.replaceAll('_', ' ')} ${id.length > 20 ? `…${id.slice(-6)}` : id}`
  const link = { className: 'rowLink', title: id, children: text }
  switch (kind) {
    case 'payment':
      return <Link to="/payments/$id" params={{ id }} {...link} />
    case 'webhook_delivery':
      return <Link to="/webhooks/deliveries/$id" params={{ id }} {...link} />
    case 'webhook_endpoint':
      return <Link to="/webhooks/endpoints/$id" params={{ id }} {...link} />
    case 'projection':
      return <Link to="/system" {...link} />
    case 'job':
      return <Link to="/system/jobs/$id" params={{ id }} {...link} />
    case 'stream':
      return <StreamLink stream={id} />
  }
  return <span title={id}>{text}</span>
}
