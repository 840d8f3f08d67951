// Everybody's payments, with the filters of GET /admin/payments.
import { getRouteApi } from '@tanstack/react-router'
import { api, bodyOf } from '../../api/api.ts'
import type { ListedPayment } from '../../api/apiTypes.ts'
import { CsvButton } from '../../parts/CsvButton.tsx'
import { FilterBar, OrderChoice } from '../../parts/filters/FilterBar.tsx'
import { noMatchOf } from '../../parts/filters/filterTypes.ts'
import { ListTotal } from '../../parts/ListTotal.tsx'
import { NewRows } from '../../parts/NewRows.tsx'
import { Page } from '../../parts/Page.tsx'
import { Pager } from '../../parts/Pager.tsx'
import { QueryTable } from '../../parts/QueryTable.tsx'
import { useLiveList } from '../../parts/useLiveList.ts'
import { paymentColumns } from './paymentColumns.tsx'
import { paymentFilters, paymentMatchHint, paymentOrders } from './paymentFilters.ts'
import { type PaymentsSearch, paymentsQuery } from './paymentsSearch.ts'

const route = getRouteApi('/payments')
const rowKey = ({ id }: ListedPayment) => id

export function PaymentsPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const query = paymentsQuery(search)
  const list = useLiveList({
    queryKey: ['payments', query],
    queryFn: ({ signal }) => bodyOf(api.listAnyPayments({ query, signal })),
    rowKey,
    isLive: search.cursor === undefined,
  })
  const page = list.query.data
  const change = (changes: PaymentsSearch) =>
    void navigate({ search: (now) => ({ ...now, cursor: undefined, ...changes }) })
  const filtered = { filters: paymentFilters, values: search, change }
  return (
    <Page
      title="Payments"
      lead={<ListTotal meta={page?.meta} one="payment" many="payments" />}
      actions={<CsvButton operation="listAnyPayments" query={query} meta={page?.meta} />}
    >
      <FilterBar what="payments" search={{ name: 'search', placeholder: 'Id, e-mail, amount or words' }} {...filtered}>
        <OrderChoice choices={paymentOrders} search={search} change={change} />
      </FilterBar>
      <NewRows count={list.newCount} show={list.showNew} />
      <div className="panel">
        <QueryTable
          what="payments"
          query={list.query}
          rowsOf={({ data }) => data}
          columns={paymentColumns}
          rowKey={rowKey}
          rowLink={({ id }) => ({ to: '/payments/$id', params: { id } })}
          isMarked={({ attention }) => attention}
          empty={{ title: 'No payments yet', hint: 'The first one appears here when your application starts it.' }}
          noMatch={noMatchOf({ ...filtered, search: 'search', hint: paymentMatchHint })}
        />
        <Pager cursor={search.cursor} next={page?.meta.next_cursor} show={(cursor) => change({ cursor })} />
      </div>
    </Page>
  )
}
