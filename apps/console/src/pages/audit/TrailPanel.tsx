// What administrators did, newest first.
import { getRouteApi } from '@tanstack/react-router'
import { api, bodyOf } from '../../api/api.ts'
import type { AuditTrailEntry } from '../../api/apiTypes.ts'
import { NewRows } from '../../parts/NewRows.tsx'
import { Pager } from '../../parts/Pager.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { QueryTable } from '../../parts/QueryTable.tsx'
import { useLiveList } from '../../parts/useLiveList.ts'
import { type AuditSearch, auditTrailQuery } from './auditSearch.ts'
import { TrailFilters } from './TrailFilters.tsx'
import { trailColumns } from './trailColumns.tsx'

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
  return (
    <Panel title="Who did what" isFlush>
      <div className="panelTop stack">
        <p>What administrators did or asked for, recorded before it was done.</p>
        <TrailFilters search={search} change={change} />
        <NewRows count={list.newCount} show={list.showNew} />
      </div>
      <QueryTable
        what="entries of the audit trail"
        query={list.query}
        rowsOf={({ data }) => data}
        columns={trailColumns}
        rowKey={rowKey}
        empty={{ title: 'No entries', hint: 'None match these filters.' }}
      />
      <Pager cursor={search.cursor} next={list.query.data?.meta.next_cursor} show={(cursor) => change({ cursor })} />
    </Panel>
  )
}
