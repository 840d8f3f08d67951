// What administrators did, newest first.
import { getRouteApi } from '@tanstack/react-router'
import { api, bodyOf } from '../../api/api.ts'
import type { AuditTrailEntry } from '../../api/apiTypes.ts'
import { CsvButton } from '../../parts/CsvButton.tsx'
import { FilterBar } from '../../parts/filters/FilterBar.tsx'
import { noMatchOf } from '../../parts/filters/filterTypes.ts'
import { NewRows } from '../../parts/NewRows.tsx'
import { Pager } from '../../parts/Pager.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { QueryTable } from '../../parts/QueryTable.tsx'
import { useLiveList } from '../../parts/useLiveList.ts'
import { type AuditSearch, auditTrailQuery } from './auditSearch.ts'
import { trailColumns } from './trailColumns.tsx'
import { trailFilters } from './trailFilters.ts'

const route = getRouteApi('/audit')
const rowKey = ({ id }: AuditTrailEntry) => id

export function TrailPanel() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const query = auditTrailQuery(search)
  const list = useLiveList({
    queryKey: ['audit-trail', query],
    queryFn: ({ signal }) => bodyOf(api.listAuditTrail({ query, signal })),
    rowKey,
    isLive: search.cursor === undefined,
  })
  const change = (changes: AuditSearch) =>
    void navigate({ search: (now) => ({ ...now, cursor: undefined, ...changes }), resetScroll: false })
  const meta = list.query.data?.meta
  const filtered = { filters: trailFilters, values: search, change }
  return (
    <Panel
      title="Who did what"
      isFlush
      actions={<CsvButton operation="listAuditTrail" query={query} meta={list.query.data?.meta} />}
    >
      <div className="panelTop stack">
        <p>What administrators did or asked for, recorded before it was done.</p>
        <FilterBar what="entries" {...filtered} />
        <NewRows count={list.newCount} show={list.showNew} />
      </div>
      <QueryTable
        what="entries of the audit trail"
        query={list.query}
        rowsOf={({ data }) => data}
        columns={trailColumns}
        rowKey={rowKey}
        empty={{ title: 'No entries', hint: 'What administrators do from now on is listed here.' }}
        noMatch={noMatchOf({ ...filtered, hint: 'Actors and ids are matched as a whole.' })}
      />
      <Pager cursor={search.cursor} next={meta?.next_cursor} show={(cursor) => change({ cursor })} />
    </Panel>
  )
}
