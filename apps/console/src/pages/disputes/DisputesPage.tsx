// The disputes of all payments, with the filters of GET /admin/disputes.
import { getRouteApi } from '@tanstack/react-router'
import { api, bodyOf } from '../../api/api.ts'
import type { Dispute } from '../../api/apiTypes.ts'
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
import { disputeColumns } from './disputeColumns.tsx'
import { type DisputesSearch, disputeStatuses, disputesQuery } from './disputesSearch.ts'

const route = getRouteApi('/disputes')
const rowKey = ({ id }: Dispute) => id

const orders = [
  { value: 'created_at asc', label: 'Oldest first' },
  { value: 'updated_at desc', label: 'Last updated first' },
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
  const filtered = { filters: useDisputeFilters(), values: search, change }
  return (
    <Page
      title="Disputes"
      lead={<Total meta={meta} one="dispute" many="disputes" />}
      actions={<CsvButton operation="listDisputes" query={query} total={meta?.total} isExact={meta?.total_is_exact} />}
    >
      <FilterBar what="disputes" {...filtered}>
        <OrderChoice choices={orders} search={search} change={change} />
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
          empty={{ title: 'No disputes', hint: 'When a payer’s bank asks a payment back, it appears here.' }}
          noMatch={noMatchOf({ ...filtered, hint: 'Ids and e-mail addresses are matched as a whole.' })}
        />
        <Pager cursor={search.cursor} next={meta?.next_cursor} show={(cursor) => change({ cursor })} />
      </div>
    </Page>
  )
}

const useDisputeFilters = (): readonly Filter<keyof DisputesSearch>[] => [
  { kind: 'choice', label: 'Status', names: ['status'], choices: choicesOf(disputeStatuses) },
  { kind: 'period', label: 'Opened', names: ['created_at_from', 'created_at_to'] },
  useProviderFilter(),
  { kind: 'choice', label: 'Currency', names: ['currency'], choices: currencyChoices() },
  { kind: 'text', label: 'Payment id', names: ['payment_id'], hint: 'The whole id' },
  { kind: 'text', label: 'Guest e-mail', names: ['guest_email'], hint: 'The whole address' },
  { kind: 'text', label: 'User id', names: ['user_id'], hint: 'The whole id' },
]
