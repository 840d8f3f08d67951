// The refunds of all payments, with the filters of GET /admin/refunds.
import { getRouteApi } from '@tanstack/react-router'
import { api, bodyOf } from '../../api/api.ts'
import type { ListedRefund } from '../../api/apiTypes.ts'
import { CsvButton } from '../../parts/CsvButton.tsx'
import { choicesOf } from '../../parts/fields.tsx'
import { FilterBar, OrderChoice } from '../../parts/filters/FilterBar.tsx'
import { type Filter, noMatchOf } from '../../parts/filters/filterTypes.ts'
import {
  createdFilter,
  currencyFilter,
  customerFilters,
  moneyOrders,
  paymentFilter,
  providerFilter,
  reportedFilter,
} from '../../parts/filters/moneyFilters.ts'
import { ListTotal } from '../../parts/ListTotal.tsx'
import { NewRows } from '../../parts/NewRows.tsx'
import { Page } from '../../parts/Page.tsx'
import { Pager } from '../../parts/Pager.tsx'
import { QueryTable } from '../../parts/QueryTable.tsx'
import { useLiveList } from '../../parts/useLiveList.ts'
import { refundColumns } from './refundColumns.tsx'
import { type RefundsSearch, refundStatuses, refundsQuery } from './refundsSearch.ts'

const route = getRouteApi('/refunds')
const rowKey = ({ id }: ListedRefund) => id

const filters: readonly Filter<keyof RefundsSearch>[] = [
  { kind: 'choice', label: 'Status', names: ['status'], choices: choicesOf(refundStatuses) },
  createdFilter,
  reportedFilter('Money moved'),
  currencyFilter,
  providerFilter,
  paymentFilter,
  ...customerFilters,
]

export function RefundsPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const query = refundsQuery(search)
  const list = useLiveList({
    queryKey: ['refunds', query],
    queryFn: ({ signal }) => bodyOf(api.listAnyRefunds({ query, signal })),
    rowKey,
    isLive: search.cursor === undefined,
  })
  const meta = list.query.data?.meta
  const change = (changes: RefundsSearch) =>
    void navigate({ search: (now) => ({ ...now, cursor: undefined, ...changes }) })
  const filtered = { filters, values: search, change }
  return (
    <Page
      title="Refunds"
      lead={<ListTotal meta={meta} one="refund" many="refunds" />}
      actions={<CsvButton operation="listAnyRefunds" query={query} meta={meta} />}
    >
      <FilterBar what="refunds" {...filtered}>
        <OrderChoice choices={moneyOrders} search={search} change={change} />
      </FilterBar>
      <NewRows count={list.newCount} show={list.showNew} />
      <div className="panel">
        <QueryTable
          what="refunds"
          query={list.query}
          rowsOf={({ data }) => data}
          columns={refundColumns}
          rowKey={rowKey}
          rowLink={({ payment_id }) => ({ to: '/payments/$id', params: { id: payment_id } })}
          isMarked={({ returned_at }) => returned_at !== null}
          empty={{ title: 'No refunds yet', hint: 'A payment is refunded on its page, or over the API.' }}
          noMatch={noMatchOf({ ...filtered, hint: 'Ids are matched as a whole.' })}
        />
        <Pager cursor={search.cursor} next={meta?.next_cursor} show={(cursor) => change({ cursor })} />
      </div>
    </Page>
  )
}
