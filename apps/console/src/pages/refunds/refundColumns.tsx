// The columns of the list of refunds.
import type { ListedRefund } from '../../api/apiTypes.ts'
import { providerName } from '../../format/providerTexts.ts'
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
    note: ({ provider_id, reason, note }) =>
      [providerName(provider_id), reason.replaceAll('_', ' '), note].filter(Boolean).join(' · '),
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
  { header: 'Status', narrow: 'detail', cell: (refund) => <RefundBadges refund={refund} /> },
  { header: 'Requested', narrow: 'detail', cell: ({ created_at }) => <Time value={created_at} /> },
  {
    header: 'Succeeded',
    cell: ({ succeeded_at }) => <Time value={succeeded_at} />,
    note: ({ returned_at }) =>
      returned_at !== null && (
        <>
          came back <Time value={returned_at} />
        </>
      ),
  },
]

function RefundBadges({ refund: { status, returned_at, failure_code } }: { readonly refund: ListedRefund }) {
  return (
    <>
      <span className="badges">
        <Badge text={status} />
        {returned_at !== null && <Badge text="money came back" tone="warn" />}
      </span>
      {failure_code !== null && <div className="cellNote wrap">{failure_code.replaceAll('_', ' ')}</div>}
    </>
  )
}
