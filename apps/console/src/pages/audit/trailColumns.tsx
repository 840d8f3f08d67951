// The columns of the audit trail.
import { Link, type LinkProps } from '@tanstack/react-router'
import type { AuditTrailEntry } from '../../api/apiTypes.ts'
import { Badge, type Tone } from '../../parts/Badge.tsx'
import { shortId } from '../../parts/CustomerLink.tsx'
import type { Column } from '../../parts/DataTable.tsx'
import { Dash, Time } from '../../parts/Time.tsx'
import { actionText, actorName, detailsText, jobOf } from './trailText.ts'

export const trailColumns: readonly Column<AuditTrailEntry>[] = [
  {
    header: 'What',
    narrow: 'title',
    cell: (entry) => <strong>{actionText(entry)}</strong>,
    note: (entry) => <Remark entry={entry} />,
  },
  {
    header: 'Who',
    narrow: 'detail',
    cell: ({ actor, actor_email }) => (
      <Link to="/audit" search={{ actor }} className="rowLink wrap" title={actor}>
        {actor_email ?? actorName(actor)}
      </Link>
    ),
  },
  { header: 'About', cell: (entry) => <About entry={entry} /> },
  { header: 'Outcome', isShort: true, narrow: 'figure', cell: (entry) => <Outcome entry={entry} /> },
  { header: 'When', narrow: 'detail', cell: ({ created_at }) => <Time value={created_at} /> },
]

/** The reason in the words of who acted, and what else was asked for. */
function Remark({ entry }: { readonly entry: AuditTrailEntry }) {
  const details = detailsText(entry)
  return (
    <>
      {entry.reason !== null && <span className="wrap">“{entry.reason}”</span>}
      {entry.reason !== null && details !== '' && ' · '}
      {details !== '' && <span className="wrap">{details}</span>}
    </>
  )
}

const tones: Readonly<Record<AuditTrailEntry['outcome'], Tone>> = { done: 'good', refused: 'bad', unknown: 'quiet' }

function Outcome({ entry }: { readonly entry: AuditTrailEntry }) {
  const { outcome } = entry
  return <Badge text={jobOf(entry) === null ? outcome : 'started'} tone={tones[outcome]} />
}

const streamOfPayment = /^payment-(?<id>[0-9a-f-]{36})$/

/** Where an entry leads: to what it is about, or to the job that it started. */
export function entryLink(entry: AuditTrailEntry): LinkProps | undefined {
  const job = jobOf(entry)
  if (job !== null) return { to: '/system/jobs/$id', params: { id: job } }
  const { kind, id } = entry.target ?? { kind: '', id: '' }
  switch (kind) {
    case 'payment':
      return { to: '/payments/$id', params: { id } }
    case 'webhook_delivery':
      return { to: '/webhooks/deliveries/$id', params: { id } }
    case 'webhook_endpoint':
      return { to: '/webhooks/endpoints/$id', params: { id } }
    case 'projection':
      return { to: '/system' }
    case 'job':
      return { to: '/system/jobs/$id', params: { id } }
    case 'provider':
      return { to: '/providers' }
    case 'stream': {
      const payment = streamOfPayment.exec(id)?.groups?.id
      return payment === undefined ? undefined : { to: '/payments/$id', params: { id: payment } }
    }
  }
  return undefined
}

/** What was acted on, in short. The whole row leads there. */
function About({ entry: { target } }: { readonly entry: AuditTrailEntry }) {
  if (target === null) return <Dash />
  return (
    <span title={target.id} className="wrap">
      {target.kind.replaceAll('_', ' ')} {shortId(target.id)}
    </span>
  )
}
