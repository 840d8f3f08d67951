// The columns of a list of refunds.
import type { ListedRefund } from '../../api/apiTypes.ts'
import { Badge } from '../../parts/Badge.tsx'
import type { Column } from '../../parts/DataTable.tsx'
import { Money } from '../../parts/Money.tsx'
import { Time } from '../../parts/Time.tsx'

export const refundColumns: readonly Column<ListedRefund>[] = [
  {
    header: 'Refund of',
    narrow: 'title',
    cell: ({ concept, reference_code, payment_id }) => (
      <span className="clamped">{concept?.trim() || reference_code || payment_id}</span>
    ),
    note: ({ provider_id, reference_code, concept }) =>
      [provider_id, concept?.trim() ? reference_code : null].filter(Boolean).join(' · '),
  },
  {
    header: 'Reason',
    cell: ({ reason }) => reason.replaceAll('_', ' '),
    note: ({ note }) => note && <span className="clamped">{note}</span>,
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
  {
    header: 'Status',
    narrow: 'detail',
    cell: (refund) => <RefundStatus refund={refund} />,
    note: ({ failure_code }) => failure_code,
  },
  { header: 'Requested', narrow: 'detail', cell: ({ created_at }) => <Time value={created_at} /> },
]

/** A refund that failed after it had succeeded has given nothing back. */
function RefundStatus({ refund: { status, returned_at } }: { readonly refund: ListedRefund }) {
  return <Badge text={returned_at === null ? status : 'returned'} tone={returned_at === null ? undefined : 'bad'} />
}
