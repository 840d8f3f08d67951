// The disputes of all payments.
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { api, bodyOf } from '../../api/api.ts'
import { pollMs } from '../../api/queryClient.ts'
import { choicesOf } from '../../parts/fields.tsx'
import { FilterBar } from '../../parts/filters/FilterBar.tsx'
import { type Filter, noMatchOf } from '../../parts/filters/filterTypes.ts'
import { Page } from '../../parts/Page.tsx'
import { Pager } from '../../parts/Pager.tsx'
import { QueryTable } from '../../parts/QueryTable.tsx'
import { disputeColumns } from './disputeColumns.tsx'
import { type DisputesSearch, disputeStatuses, disputesQuery } from './disputesSearch.ts'

const route = getRouteApi('/disputes')

const filters: readonly Filter<keyof DisputesSearch>[] = [
  { kind: 'choice', label: 'Status', names: ['status'], choices: choicesOf(disputeStatuses) },
]

export function DisputesPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const query = disputesQuery(search)
  const list = useQuery({
    queryKey: ['disputes', query],
    queryFn: ({ signal }) => bodyOf(api.listDisputes({ query, signal })),
    refetchInterval: pollMs,
  })
  const change = (changes: DisputesSearch) =>
    void navigate({ search: (now) => ({ ...now, cursor: undefined, ...changes }) })
  const filtered = { filters, values: search, change }
  return (
    <Page title="Disputes" lead="Payments that the payer’s bank, or the payer at the provider, asks back">
      <FilterBar what="disputes" {...filtered} />
      <div className="panel">
        <QueryTable
          what="disputes"
          query={list}
          rowsOf={({ data }) => data}
          columns={disputeColumns}
          rowKey={({ id }) => id}
          rowLink={({ payment_id }) => ({ to: '/payments/$id', params: { id: payment_id } })}
          empty={{ title: 'No disputes', hint: 'When a payer disputes a payment, it appears here.' }}
          noMatch={noMatchOf(filtered)}
        />
        <Pager cursor={search.cursor} next={list.data?.meta.next_cursor} show={(cursor) => change({ cursor })} />
      </div>
    </Page>
  )
}
