// The disputes of all payments, with the filters of GET /admin/disputes.
import { getRouteApi } from '@tanstack/react-router'
import { api, bodyOf } from '../../api/api.ts'
import type { Dispute } from '../../api/apiTypes.ts'
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
import { disputeColumns } from './disputeColumns.tsx'
import { type DisputesSearch, disputeStatuses, disputesQuery } from './disputesSearch.ts'
import { isUrgent } from './evidence.ts'

const route = getRouteApi('/disputes')
const rowKey = ({ id }: Dispute) => id

const filters: readonly Filter<keyof DisputesSearch>[] = [
  { kind: 'choice', label: 'Status', names: ['status'], choices: choicesOf(disputeStatuses) },
  createdFilter,
  reportedFilter('Money moved'),
  currencyFilter,
  providerFilter,
  paymentFilter,
  ...customerFilters,
]

export function DisputesPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const query = disputesQuery(search)
  const list = useLiveList({
    queryKey: ['disputes', query],
    queryFn: ({ signal }) => bodyOf(api.listDisputes({ query, signal })),
    rowKey,
    isLive: search.cursor === undefined,
  })
  const meta = list.query.data?.meta
  const change = (changes: DisputesSearch) =>
    void navigate({ search: (now) => ({ ...now, cursor: undefined, ...changes }) })
  const filtered = { filters, values: search, change }
  return (
    <Page
      title="Disputes"
      lead={<ListTotal meta={meta} one="dispute" many="disputes" />}
      actions={<CsvButton operation="listDisputes" query={query} meta={meta} />}
    >
      <FilterBar what="disputes" {...filtered}>
        <OrderChoice choices={moneyOrders} search={search} change={change} />
      </FilterBar>
      <NewRows count={list.newCount} show={list.showNew} />
      <div className="panel">
        <QueryTable
          what="disputes"
          query={list.query}
          rowsOf={({ data }) => data}
          columns={disputeColumns}
          rowKey={rowKey}
          rowLink={({ payment_id }) => ({ to: '/payments/$id', params: { id: payment_id } })}
          isMarked={(dispute) => isUrgent(dispute, Date.now())}
          empty={{
            title: 'No disputes',
            hint: 'When a payer asks a payment back at the bank or the provider, it appears here.',
          }}
          noMatch={noMatchOf({ ...filtered, hint: 'Ids are matched as a whole.' })}
        />
        <Pager cursor={search.cursor} next={meta?.next_cursor} show={(cursor) => change({ cursor })} />
      </div>
    </Page>
  )
}
