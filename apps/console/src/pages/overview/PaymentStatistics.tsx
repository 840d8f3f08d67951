// Payments and success rate over time, by provider and currency.
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { api, dataOf } from '../../api/api.ts'
import type { Statistics } from '../../api/apiTypes.ts'
import type { Days } from '../../format/days.ts'
import { providerName } from '../../format/providerTexts.ts'
import { formatTime } from '../../format/time.ts'
import { usePreferences } from '../../layout/Preferences.tsx'
import { LazyChart } from '../../parts/chart/LazyChart.tsx'
import { type Column, DataTable } from '../../parts/DataTable.tsx'
import { ChoiceField } from '../../parts/fields.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { EmptyState, ErrorState, LoadingState } from '../../parts/states.tsx'
import { Dash } from '../../parts/Time.tsx'
import type { OverviewSearch } from './overviewSearch.ts'
import {
  dayMs,
  type Group,
  groupsOf,
  type Interval,
  intervalsOf,
  type Range,
  rangeOf,
  successRate,
  type Totals,
} from './statistics.ts'

const refreshMs = 60_000
const chartHeight = 260

/** @param props `change` puts filters into the URL */
export function PaymentStatistics(props: {
  readonly search: OverviewSearch
  readonly days: Days
  readonly change: (changes: OverviewSearch) => void
}) {
  const { search, days, change } = props
  const { zone } = usePreferences()
  const { from, to, stepMs } = rangeOf(days, zone, Date.now())
  const range = useMemo(() => ({ from, to, stepMs }), [from, to, stepMs])
  const query = useStatistics(range)
  const rows = query.data ?? []
  const chosen = rows.filter(
    ({ currency, provider_id }) =>
      (search.currency === undefined || currency === search.currency) &&
      (search.provider_id === undefined || provider_id === search.provider_id),
  )
  const choices = (name: 'currency' | 'provider_id') =>
    [...new Set([...rows.map((row) => row[name]), ...(search[name] === undefined ? [] : [search[name]])])].map(
      (value) => ({ value, label: value }),
    )
  return (
    <Panel
      title="Payments over time"
      actions={
        <>
          <ChoiceField
            label="Provider"
            any="All"
            choices={choices('provider_id')}
            value={search.provider_id}
            change={(provider_id) => change({ provider_id })}
          />
          <ChoiceField
            label="Currency"
            any="All"
            choices={choices('currency')}
            value={search.currency}
            change={(currency) => change({ currency })}
          />
        </>
      }
    >
      {query.isError && <ErrorState error={query.error} retry={() => void query.refetch()} />}
      {query.isPending && <LoadingState what="statistics" />}
      {query.data && chosen.length === 0 && <EmptyState title="No payments in this period" />}
      {chosen.length > 0 && <Charts rows={chosen} range={range} />}
    </Panel>
  )
}

function useStatistics({ from, to, stepMs }: Range) {
  const interval = stepMs === dayMs ? ('day' as const) : ('hour' as const)
  const query = { from: new Date(from).toISOString(), to: new Date(to).toISOString(), interval }
  return useQuery({
    queryKey: ['statistics', query],
    queryFn: ({ signal }) => dataOf(api.getStatistics({ query, signal })),
    refetchInterval: refreshMs,
  })
}

function Charts({ rows, range }: { readonly rows: readonly Statistics[]; readonly range: Range }) {
  const { zone } = usePreferences()
  const intervals = useMemo(() => intervalsOf(rows, range), [rows, range])
  const series = useMemo(() => seriesOf(intervals), [intervals])
  const times = useMemo(() => intervals.map(({ from }) => Date.parse(from) / 1_000), [intervals])
  // Days begin at midnight in UTC, so they are named in UTC.
  const isUtc = zone === 'utc' || range.stepMs === dayMs
  return (
    <div className="stack">
      <LazyChart
        times={times}
        series={series}
        height={chartHeight}
        isUtc={isUtc}
        axes={range.stepMs === dayMs ? dailyAxes : hourlyAxes}
      />
      <DataTable
        caption="Payments by provider and currency"
        columns={groupColumns}
        rows={groupsOf(rows)}
        rowKey={({ provider, currency }) => `${provider} ${currency}`}
      />
      <details>
        <summary>The chart as a table</summary>
        <DataTable
          caption="Payments over time"
          columns={intervalColumns(range.stepMs === dayMs, isUtc)}
          rows={intervals.filter(({ totals }) => totals.payments > 0).toReversed()}
          rowKey={({ from }) => from}
        />
      </details>
    </div>
  )
}

const dailyAxes = { times: 'Day (UTC)', values: 'Payments', percentages: 'Success rate, %' }
const hourlyAxes = { ...dailyAxes, times: 'Hour' }

const seriesOf = (intervals: readonly Interval[]) => [
  { label: 'Payments', color: '--accent', values: intervals.map(({ totals }) => totals.payments) },
  { label: 'Succeeded', color: '--good-ink', values: intervals.map(({ totals }) => totals.succeeded) },
  {
    label: 'Success rate',
    color: '--warn-ink',
    isPercentage: true,
    values: intervals.map(({ totals }) => successRate(totals)),
  },
]

const rateText = (totals: Totals) => {
  const rate = successRate(totals)
  return rate === null ? <Dash /> : `${rate} %`
}

const groupColumns: readonly Column<Group>[] = [
  { header: 'Provider', narrow: 'title', cell: ({ provider }) => providerName(provider) },
  { header: 'Currency', isShort: true, narrow: 'detail', cell: ({ currency }) => currency },
  { header: 'Payments', isNumber: true, narrow: 'figure', cell: ({ totals }) => totals.payments.toLocaleString() },
  { header: 'Succeeded', isNumber: true, cell: ({ totals }) => totals.succeeded.toLocaleString() },
  { header: 'Success rate', isNumber: true, narrow: 'detail', cell: ({ totals }) => rateText(totals) },
]

const intervalColumns = (isDaily: boolean, isUtc: boolean): readonly Column<Interval>[] => [
  {
    header: isDaily ? 'Day (UTC)' : 'Hour',
    cell: ({ from }) => formatTime(from, isUtc ? 'utc' : 'local').slice(0, isDaily ? 10 : 16),
  },
  { header: 'Payments', isNumber: true, cell: ({ totals }) => totals.payments },
  { header: 'Succeeded', isNumber: true, cell: ({ totals }) => totals.succeeded },
  { header: 'Success rate', isNumber: true, cell: ({ totals }) => rateText(totals) },
  { header: 'Refunds', isNumber: true, cell: ({ totals }) => totals.refunds },
  { header: 'Disputes', isNumber: true, cell: ({ totals }) => totals.disputes },
]
