// The report of a month, or of any days: what came in and went out by provider and currency, each figure with its list.
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { Report, ReportRow } from '../../api/apiTypes.ts'
import { reportQuery } from '../../api/reportQuery.ts'
import { daysText } from '../../format/days.ts'
import { providerName } from '../../format/providerTexts.ts'
import { timeZoneOf } from '../../format/time.ts'
import { usePreferences } from '../../layout/Preferences.tsx'
import { CsvButton } from '../../parts/CsvButton.tsx'
import { FilterBar } from '../../parts/filters/FilterBar.tsx'
import { type Filter, noMatchOf } from '../../parts/filters/filterTypes.ts'
import { Page } from '../../parts/Page.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { QueryTable } from '../../parts/QueryTable.tsx'
import { MoneyCards } from './MoneyCards.tsx'
import { ReportPeriod } from './ReportPeriod.tsx'
import { reportColumns } from './reportColumns.tsx'
import { type ReportsSearch, reportDays } from './reportsSearch.ts'
import { Statement } from './Statement.tsx'

const route = getRouteApi('/reports')

export function ReportsPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { zone } = usePreferences()
  const timeZone = search.time_zone ?? timeZoneOf(zone)
  const days = reportDays(search, timeZone, Date.now())
  const asked = { ...days, time_zone: timeZone }
  const query = useQuery(reportQuery(asked))
  const { provider_id, currency } = search
  const report = query.data && onlyOf(query.data, search)
  const change = (changes: ReportsSearch) => void navigate({ search: (now) => ({ ...now, ...asked, ...changes }) })
  const filtered = { filters: filtersOf(query.data?.rows ?? []), values: search, change }
  const [row, another] = report?.rows ?? []
  return (
    <Page
      title="Reports"
      lead={`${daysText(days)}, by days of ${timeZone}`}
      actions={
        <CsvButton
          operation="getReport"
          query={{ ...asked, provider_id, currency }}
          meta={report && { total: report.rows.length, total_is_exact: true }}
        />
      }
    >
      <ReportPeriod days={days} timeZone={timeZone} change={change} />
      <FilterBar what="the report" {...filtered} />
      <div className="panels">
        {(query.isPending || report) && <MoneyCards report={report} provider={provider_id} />}
        <Panel title="By provider and currency" isFlush>
          <QueryTable
            what="rows of the report"
            query={query}
            rowsOf={() => report?.rows ?? []}
            columns={reportColumns(report)}
            rowKey={({ provider_id, currency }) => `${provider_id} ${currency}`}
            empty={{
              title: 'No money moved in this period',
              hint: 'A payment belongs to the day on which it was completed. Choose another month or other days above.',
            }}
            noMatch={noMatchOf(filtered)}
          />
        </Panel>
        {report && row && another === undefined && <Statement row={row} report={report} />}
        {report && <Explanation report={report} />}
      </div>
    </Page>
  )
}

const onlyOf = (report: Report, { provider_id, currency }: ReportsSearch): Report => ({
  ...report,
  rows: report.rows.filter(
    (row) =>
      (provider_id === undefined || row.provider_id === provider_id) &&
      (currency === undefined || row.currency === currency),
  ),
})

const filtersOf = (rows: readonly ReportRow[]): readonly Filter<keyof ReportsSearch>[] => {
  const choices = (name: 'provider_id' | 'currency', label = (value: string) => value) =>
    [...new Set(rows.map((row) => row[name]))].map((value) => ({ value, label: label(value) }))
  return [
    { kind: 'choice', label: 'Provider', names: ['provider_id'], choices: choices('provider_id', providerName) },
    { kind: 'choice', label: 'Currency', names: ['currency'], choices: choices('currency') },
  ]
}

function Explanation({ report: { position } }: { readonly report: Report }) {
  return (
    <p className="hint">
      Money that comes in is positive, money that goes out negative. A payment belongs to the day on which it was
      completed, a refund to that on which it succeeded or came back, a dispute to that on which its money was taken or
      given back.
      {position !== null && ` Everything in the log up to position ${position} is in it.`}
    </p>
  )
}
