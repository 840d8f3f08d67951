// The columns of a list of disputes.
import type { Dispute } from '../../api/apiTypes.ts'
import { Badge } from '../../parts/Badge.tsx'
import type { Column } from '../../parts/DataTable.tsx'
import { Money } from '../../parts/Money.tsx'
import { Time } from '../../parts/Time.tsx'

const title: Column<Dispute> = {
  header: 'Dispute',
  narrow: 'title',
  cell: ({ reason }) => <span className="clamped">{disputeReason(reason)}</span>,
  note: ({ provider_id }) => provider_id,
}
const amount: Column<Dispute> = {
  header: 'Amount',
  isNumber: true,
  narrow: 'figure',
  cell: ({ amount_cents, currency, reported_amount_cents, reported_currency }) => {
    const reported = { cents: reported_amount_cents, currency: reported_currency }
    return <Money cents={amount_cents} currency={currency} reported={reported} />
  },
}
const due: Column<Dispute> = {
  header: 'Evidence due',
  narrow: 'detail',
  cell: ({ evidence_due_by }) => (
    <>
      <span className="narrowOnly">due </span>
      <Time value={evidence_due_by} />
    </>
  ),
}

export const disputeColumns: readonly Column<Dispute>[] = [
  title,
  { header: 'Status', isShort: true, narrow: 'detail', cell: ({ status }) => <Badge text={status} /> },
  amount,
  due,
  { header: 'Opened', narrow: 'detail', cell: ({ created_at }) => <Time value={created_at} /> },
]

/** Of disputes that are all open. */
export const openDisputeColumns: readonly Column<Dispute>[] = [title, amount, due]

/** The reason that the bank gave, in words. */
export const disputeReason = (reason: string | null): string => {
  const words = reason?.replaceAll('_', ' ').trim()
  return words ? words.charAt(0).toUpperCase() + words.slice(1) : 'No reason given'
}
