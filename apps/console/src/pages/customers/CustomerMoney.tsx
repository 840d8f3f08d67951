// The money of a customer: sums by currency, payments, refunds and disputes.
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { Link, type LinkProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Dispute, ListedPayment, ListedRefund } from '../../api/apiTypes.ts'
import { countText } from '../../format/count.ts'
import { type Column, DataTable } from '../../parts/DataTable.tsx'
import { Money } from '../../parts/Money.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { QueryTable } from '../../parts/QueryTable.tsx'
import { LoadingState } from '../../parts/states.tsx'
import { Dash } from '../../parts/Time.tsx'
import { disputeColumns } from '../disputes/disputeColumns.tsx'
import { paymentColumns } from '../payments/paymentColumns.tsx'
import { refundColumns } from '../refunds/refundColumns.tsx'
import { type Customer, type CustomerSum, sumsOf } from './customer.ts'
import { type CustomerPayments, customerDisputesQuery, customerRefundsQuery } from './customerQueries.ts'

/** More are on the page of the list. */
const shownRows = 10

export function CustomerMoney(props: {
  readonly customer: Customer
  readonly payments: UseQueryResult<CustomerPayments>
}) {
  const { customer, payments } = props
  const refunds = useQuery(customerRefundsQuery(customer))
  const disputes = useQuery(customerDisputesQuery(customer))
  const toPayment = ({ payment_id }: ListedRefund | Dispute): LinkProps => ({
    to: '/payments/$id',
    params: { id: payment_id },
  })
  return (
    <>
      <Sums payments={payments.data} disputes={disputes.data?.data} />
      <Panel
        title="Payments"
        isFlush
        actions={
          <More to="/payments" search={customer} count={payments.data?.payments.length} one="payment" many="payments" />
        }
      >
        <QueryTable
          what="payments"
          query={payments}
          rowsOf={({ payments: all }) => all.slice(0, shownRows)}
          columns={ownPaymentColumns}
          rowKey={({ id }) => id}
          rowLink={({ id }) => ({ to: '/payments/$id', params: { id } })}
          isMarked={({ attention }) => attention}
          empty={{
            title: 'No payments',
            hint: 'Nothing was paid under this name. Of a guest who was erased, nothing is found by the address.',
          }}
        />
      </Panel>
      {refunds.data?.data.length !== 0 && (
        <Panel
          title="Refunds"
          isFlush
          actions={
            <More to="/refunds" search={customer} count={refunds.data?.meta.total} one="refund" many="refunds" />
          }
        >
          <QueryTable
            what="refunds"
            query={refunds}
            rowsOf={({ data }) => data.slice(0, shownRows)}
            columns={refundColumns}
            rowKey={({ id }) => id}
            rowLink={toPayment}
            empty={{ title: 'No refunds' }}
          />
        </Panel>
      )}
      {disputes.data?.data.length !== 0 && (
        <Panel
          title="Disputes"
          isFlush
          actions={
            <More to="/disputes" search={customer} count={disputes.data?.meta.total} one="dispute" many="disputes" />
          }
        >
          <QueryTable
            what="disputes"
            query={disputes}
            rowsOf={({ data }) => data.slice(0, shownRows)}
            columns={disputeColumns}
            rowKey={({ id }) => id}
            rowLink={toPayment}
            empty={{ title: 'No disputes' }}
          />
        </Panel>
      )}
    </>
  )
}

/** All payments on this page are of one payer. */
const ownPaymentColumns: readonly Column<ListedPayment>[] = paymentColumns.filter(({ header }) => header !== 'Payer')

/** Leads to the whole list, with its filters and its file. */
function More(props: {
  readonly to: '/payments' | '/refunds' | '/disputes'
  readonly search: Customer
  readonly count: number | undefined
  readonly one: string
  readonly many: string
}): ReactNode {
  const { to, search, count = 0, one, many } = props
  if (count === 0) return null
  return (
    <Link to={to} search={search}>
      {count === 1 ? `As a list` : `All ${countText(count, one, many)}`}
    </Link>
  )
}

function Sums(props: {
  readonly payments: CustomerPayments | undefined
  readonly disputes: readonly Dispute[] | undefined
}) {
  const { payments, disputes } = props
  if (payments === undefined || disputes === undefined) return <LoadingState what="sums" rows={1} />
  const sums = sumsOf(payments.payments, disputes)
  if (sums.length === 0) return null
  return (
    <Panel title="Money" isFlush>
      {!payments.isWhole && (
        <p className="panelTop hint">Of the newest {payments.payments.length.toLocaleString()} payments.</p>
      )}
      <DataTable caption="Sums by currency" columns={sumColumns} rows={sums} rowKey={({ currency }) => currency} />
    </Panel>
  )
}

const sum = (header: string, of: 'received' | 'refunded' | 'disputed'): Column<CustomerSum> => ({
  header,
  isNumber: true,
  narrow: of === 'received' ? 'figure' : 'detail',
  cell(row) {
    if (row[of] === 0 && of !== 'received') return <Dash />
    return (
      <>
        {of !== 'received' && <span className="narrowLabel">{header} </span>}
        <Money cents={row[of]} currency={row.currency} />
      </>
    )
  },
})

const sumColumns: readonly Column<CustomerSum>[] = [
  { header: 'Currency', narrow: 'title', cell: ({ currency }) => currency },
  { header: 'Payments', isNumber: true, cell: ({ payments }) => payments.toLocaleString() },
  sum('Received', 'received'),
  sum('Refunded', 'refunded'),
  sum('Disputed', 'disputed'),
]
