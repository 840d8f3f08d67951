// What administrators did, exports of the log, and whether an export still is what the log says.
import { getRouteApi } from '@tanstack/react-router'
import { api, bodyOf } from '../../api/api.ts'
import type { AuditTrailEntry } from '../../api/apiTypes.ts'
import { CsvButton } from '../../parts/CsvButton.tsx'
import { FilterBar } from '../../parts/filters/FilterBar.tsx'
import { noMatchOf } from '../../parts/filters/filterTypes.ts'
import { ListTotal } from '../../parts/ListTotal.tsx'
import { NewRows } from '../../parts/NewRows.tsx'
import { Page } from '../../parts/Page.tsx'
import { Pager } from '../../parts/Pager.tsx'
import { QueryTable } from '../../parts/QueryTable.tsx'
import { useLiveList } from '../../parts/useLiveList.ts'
import { useMay } from '../../session/rights.ts'
import { type AuditSearch, auditTrailQuery } from './auditSearch.ts'
import { ExportPanel } from './ExportPanel.tsx'
import { entryLink, trailColumns } from './trailColumns.tsx'
import { trailFilters } from './trailFilters.ts'
import { VerifyPanel } from './VerifyPanel.tsx'

const route = getRouteApi('/audit')
const rowKey = ({ id }: AuditTrailEntry) => id

export function AuditPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const may = useMay()
  const query = auditTrailQuery(search)
  const list = useLiveList({
    queryKey: ['audit-trail', query],
    queryFn: ({ signal }) => bodyOf(api.listAuditTrail({ query, signal })),
    rowKey,
    isLive: search.cursor === undefined,
  })
  const meta = list.query.data?.meta
  const change = (changes: AuditSearch) =>
    void navigate({ search: (now) => ({ ...now, cursor: undefined, ...changes }), resetScroll: false })
  const filtered = { filters: trailFilters, values: search, change }
  return (
    <Page
      title="Audit"
      lead={
        <>
          <ListTotal meta={meta} one="action" many="actions" /> of administrators, each recorded before it was done
        </>
      }
      actions={<CsvButton operation="listAuditTrail" query={query} meta={meta} />}
    >
      <FilterBar what="actions" {...filtered} />
      <NewRows count={list.newCount} show={list.showNew} />
      <div className="panels">
        <div className="panel">
          <QueryTable
            what="actions"
            query={list.query}
            rowsOf={({ data }) => data}
            columns={trailColumns}
            rowKey={rowKey}
            rowLink={entryLink}
            empty={{
              title: 'No actions yet',
              hint: 'Refunds, exports and whatever else administrators do is listed here.',
            }}
            noMatch={noMatchOf({ ...filtered, hint: 'E-mail addresses and ids are matched as a whole.' })}
          />
          <Pager cursor={search.cursor} next={meta?.next_cursor} show={(cursor) => change({ cursor })} />
        </div>
        {may('exportEvents') && (
          <div className="columns logTools">
            <ExportPanel />
            <VerifyPanel />
          </div>
        )}
      </div>
    </Page>
  )
}
