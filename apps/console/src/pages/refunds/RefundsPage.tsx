// The refunds of all payments, with the filters of GET /admin/refunds.
import { getRouteApi } from '@tanstack/react-router'
import { api, bodyOf } from '../../api/api.ts'
import type { ListedRefund } from '../../api/apiTypes.ts'
import { CsvButton } from '../../parts/CsvButton.tsx'
import { choicesOf } from '../../parts/fields.tsx'
import { currencyChoices } from '../../parts/filters/currencies.ts'
import { FilterBar, OrderChoice } from '../../parts/filters/FilterBar.tsx'
import { type Filter, noMatchOf } from '../../parts/filters/filterTypes.ts'
import { useProviderFilter } from '../../parts/filters/providerFilter.ts'
import { NewRows } from '../../parts/NewRows.tsx'
import { Page } from '../../parts/Page.tsx'
import { Pager } from '../../parts/Pager.tsx'
import { QueryTable } from '../../parts/QueryTable.tsx'
import { Total } from '../../parts/Total.tsx'
import { useLiveList } from '../../parts/useLiveList.ts'
import { refundColumns } from './refundColumns.tsx'
import { type RefundsSearch, refundStatuses, refundsQuery } from './refundsSearch.ts'

const route = getRouteApi('/refunds')
const rowKey = ({ id }: ListedRefund) => id

const orders = [
  { value: 'created_at asc', label: 'Oldest first' },
  { value: 'updated_at desc', label: 'Last updated first' },
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
  const filtered = { filters: useRefundFilters(), values: search, change }
  return (
    <Page
      title="Refunds"
      lead={<Total meta={meta} one="refund" many="refunds" />}
      actions={
        <CsvButton operation="listAnyRefunds" query={query} total={meta?.total} isExact={meta?.total_is_exact} />
      }
    >
      <FilterBar what="refunds" {...filtered}>
        <OrderChoice choices={orders} search={search} change={change} />
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
          isMarked={({ status, returned_at }) => status === 'failed' || returned_at !== null}
          empty={{ title: 'No refunds yet', hint: 'Give money back on the page of a payment, or over the API.' }}
          noMatch={noMatchOf({ ...filtered, hint: 'Ids and e-mail addresses are matched as a whole.' })}
        />
        <Pager cursor={search.cursor} next={meta?.next_cursor} show={(cursor) => change({ cursor })} />
      </div>
    </Page>
  )
}

const useRefundFilters = (): readonly Filter<keyof RefundsSearch>[] => [
  { kind: 'choice', label: 'Status', names: ['status'], choices: choicesOf(refundStatuses) },
  { kind: 'period', label: 'Requested', names: ['created_at_from', 'created_at_to'] },
  useProviderFilter(),
  { kind: 'choice', label: 'Currency', names: ['currency'], choices: currencyChoices() },
  { kind: 'text', label: 'Payment id', names: ['payment_id'], hint: 'The whole id' },
  { kind: 'text', label: 'Guest e-mail', names: ['guest_email'], hint: 'The whole address' },
  { kind: 'text', label: 'User id', names: ['user_id'], hint: 'The whole id' },
]
