// What a human has to look at: payments that ask for attention, and open disputes.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, bodyOf } from '../../api/api.ts'
import type { ListedPayment } from '../../api/apiTypes.ts'
import { pollMs } from '../../api/queryClient.ts'
import type { Column } from '../../parts/DataTable.tsx'
import { Money } from '../../parts/Money.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { QueryTable } from '../../parts/QueryTable.tsx'
import { openDisputeColumns } from '../disputes/disputeColumns.tsx'
import { PaymentBadges, paymentTitle } from '../payments/paymentColumns.tsx'

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
        rowLink={({ id }) => ({ to: '/payments/$id', params: { id } })}
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
  { header: 'Payment', narrow: 'title', cell: (payment) => <span className="clamped">{paymentTitle(payment)}</span> },
  {
    header: 'Amount',
    isNumber: true,
    narrow: 'figure',
    cell: ({ amount_cents, currency }) => <Money cents={amount_cents} currency={currency} />,
  },
  { header: 'Status', narrow: 'detail', cell: (payment) => <PaymentBadges payment={payment} /> },
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
          <Link to="/disputes" search={{ status: 'open' }}>
            All of them
          </Link>
        )
      }
    >
      <QueryTable
        what="open disputes"
        query={query}
        rowsOf={({ data }) => data}
        columns={openDisputeColumns}
        rowLink={({ payment_id }) => ({ to: '/payments/$id', params: { id: payment_id } })}
        rowKey={({ id }) => id}
        empty={{ title: 'No open disputes' }}
      />
    </Panel>
  )
}
