// The columns of the list of disputes.
import type { Dispute } from '../../api/apiTypes.ts'
import { providerName } from '../../format/providerTexts.ts'
import { Badge } from '../../parts/Badge.tsx'
import type { Column } from '../../parts/DataTable.tsx'
import { Money } from '../../parts/Money.tsx'
import { Time } from '../../parts/Time.tsx'
import { evidenceUrgency } from './evidence.ts'

export const disputeColumns: readonly Column<Dispute>[] = [
  {
    header: 'Dispute',
    narrow: 'title',
    cell: ({ reason }) => <span className="clamped">{disputeReason(reason)}</span>,
    note: ({ provider_id, concept, reference_code }) =>
      [providerName(provider_id), concept?.trim() || reference_code].filter(Boolean).join(' · '),
  },
  {
    header: 'Amount',
    isNumber: true,
    narrow: 'figure',
    cell: ({ amount_cents, currency, reported_amount_cents, reported_currency }) => {
      const reported = { cents: reported_amount_cents, currency: reported_currency }
      return <Money cents={amount_cents} currency={currency} reported={reported} />
    },
  },
  { header: 'Status', isShort: true, narrow: 'detail', cell: ({ status }) => <Badge text={status} /> },
  { header: 'Evidence', narrow: 'detail', cell: (dispute) => <Evidence dispute={dispute} /> },
  {
    header: 'Opened',
    cell: ({ created_at }) => <Time value={created_at} />,
    note: (dispute) => <Moved dispute={dispute} />,
  },
]

/** Mostly the money is taken at once. An inquiry takes none, and what was taken may come back. */
function Moved({ dispute: { created_at, taken_at, given_back_at } }: { readonly dispute: Dispute }) {
  return (
    <>
      {taken_at !== null && taken_at !== created_at && (
        <div>
          money taken <Time value={taken_at} />
        </div>
      )}
      {given_back_at !== null && (
        <div>
          money given back <Time value={given_back_at} />
        </div>
      )}
    </>
  )
}

function Evidence({ dispute }: { readonly dispute: Dispute }) {
  const urgency = evidenceUrgency(dispute, Date.now())
  if (urgency === null) return dispute.status === 'open' && <span className="hint">no time named</span>
  return (
    <>
      <Badge text={urgency.text} tone={urgency.tone} />
      <div className="cellNote">
        <Time value={dispute.evidence_due_by} />
      </div>
    </>
  )
}

/** The reason that the bank gave, in words. */
export const disputeReason = (reason: string | null): string => {
  const words = reason?.replaceAll('_', ' ').trim()
  return words ? words.charAt(0).toUpperCase() + words.slice(1) : 'No reason given'
}
