// What a human has to look at: payments that ask for attention, and open disputes.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, bodyOf } from '../../api/api.ts'
import type { Dispute, ListedPayment } from '../../api/apiTypes.ts'
import { pollMs } from '../../api/queryClient.ts'
import type { Column } from '../../parts/DataTable.tsx'
import { Money } from '../../parts/Money.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { QueryTable } from '../../parts/QueryTable.tsx'
import { Dash, Time } from '../../parts/Time.tsx'
import { PaymentBadges, PaymentLink } from '../payments/paymentColumns.tsx'

const shownRows = 5

export function PaymentsWithAttention() {
  const query = useQuery({
    queryKey: ['payments', 'attention'],
    queryFn: ({ signal }) => bodyOf(api.listAnyPayments({ query: { attention: 'true', limit: shownRows }, signal })),
    refetchInterval: pollMs,
  })
  const total = query.data?.meta.total ?? 0
  return (
    <Panel
      title={total > 0 ? `Needs attention (${total})` : 'Needs attention'}
      isFlush
      actions={total > shownRows && <AllLink />}
    >
      <QueryTable
        what="payments that need attention"
        query={query}
        rowsOf={({ data }) => data}
        columns={paymentColumns}
        rowKey={({ id }) => id}
        empty={{ title: 'Nothing needs attention' }}
      />
    </Panel>
  )
}

function AllLink() {
  return (
    <Link to="/payments" search={{ attention: 'true' }}>
      All of them
    </Link>
  )
}

const paymentColumns: readonly Column<ListedPayment>[] = [
  { header: 'Payment', cell: (payment) => <PaymentLink payment={payment} /> },
  {
    header: 'Amount',
    isNumber: true,
    cell: ({ amount_cents, currency }) => <Money cents={amount_cents} currency={currency} />,
  },
  { header: 'Status', cell: (payment) => <PaymentBadges payment={payment} /> },
]

export function OpenDisputes() {
  const query = useQuery({
    queryKey: ['disputes', 'open'],
    queryFn: ({ signal }) => bodyOf(api.listDisputes({ query: { status: 'open', limit: shownRows }, signal })),
    refetchInterval: pollMs,
  })
  return (
    <Panel
      title="Open disputes"
      isFlush
      actions={
        query.data?.meta.next_cursor && (
          <Link to="/payments" search={{ disputed: 'true' }}>
            All disputed payments
          </Link>
        )
      }
    >
      <QueryTable
        what="open disputes"
        query={query}
        rowsOf={({ data }) => data}
        columns={disputeColumns}
        rowKey={({ id }) => id}
        empty={{ title: 'No open disputes' }}
      />
    </Panel>
  )
}

const disputeColumns: readonly Column<Dispute>[] = [
  {
    header: 'Dispute',
    cell: ({ payment_id, reason }) => (
      <Link to="/payments/$id" params={{ id: payment_id }} className="rowLink">
        {reason?.replaceAll('_', ' ') || 'no reason given'}
      </Link>
    ),
  },
  {
    header: 'Amount',
    isNumber: true,
    cell: ({ amount_cents, currency, reported_amount_cents, reported_currency }) => {
      const reported = { cents: reported_amount_cents, currency: reported_currency }
      return <Money cents={amount_cents} currency={currency} reported={reported} />
    },
  },
  { header: 'Provider', isShort: true, cell: ({ provider_id }) => provider_id },
  {
    header: 'Evidence due',
    isShort: true,
    cell: ({ evidence_due_by }) => (evidence_due_by ? <Time value={evidence_due_by} /> : <Dash />),
  },
]
