// Payments and success rate over time, by provider and currency.
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { api, dataOf } from '../../api/api.ts'
import type { Statistics } from '../../api/apiTypes.ts'
import { formatTime } from '../../format/time.ts'
import { usePreferences } from '../../layout/Preferences.tsx'
import { LazyChart } from '../../parts/chart/LazyChart.tsx'
import { type Column, DataTable } from '../../parts/DataTable.tsx'
import { ChoiceField } from '../../parts/fields.tsx'
import { Money } from '../../parts/Money.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { EmptyState, ErrorState, LoadingState } from '../../parts/states.tsx'
import { Dash } from '../../parts/Time.tsx'
import type { OverviewSearch } from './overviewSearch.ts'
import { type Group, groupsOf, type Interval, intervalsOf, successRate, type Totals } from './statistics.ts'

const dayMs = 86_400_000
const hourMs = 3_600_000
const refreshMs = 60_000
const chartHeight = 260
const ranges = [
  { value: '1', label: 'Last 24 hours' },
  { value: '7', label: 'Last 7 days' },
  { value: '90', label: 'Last 90 days' },
]

/** @param props `change` puts filters into the URL */
export function PaymentStatistics({
  search,
  change,
}: {
  readonly search: OverviewSearch
  readonly change: (changes: OverviewSearch) => void
}) {
  const days = Number(ranges.find(({ value }) => value === search.days)?.value ?? 30)
  const range = useRange(days)
  const query = useStatistics(range, days)
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
      title="Payments"
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
          <ChoiceField
            label="Period"
            any="Last 30 days"
            choices={ranges}
            value={search.days}
            change={(value) => change({ days: value })}
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

type Range = { readonly from: number; readonly to: number; readonly stepMs: number }

/** Ends with the present interval, so that it changes only when the next one begins. */
function useRange(days: number): Range {
  const stepMs = days === 1 ? hourMs : dayMs
  const to = Math.ceil(Date.now() / stepMs) * stepMs
  return useMemo(() => ({ from: to - days * dayMs, to, stepMs }), [days, to, stepMs])
}

function useStatistics({ from, to, stepMs }: Range, days: number) {
  const interval = stepMs === hourMs ? ('hour' as const) : ('day' as const)
  const query = { from: new Date(from).toISOString(), to: new Date(to).toISOString(), interval }
  return useQuery({
    queryKey: ['statistics', days, query],
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
  { header: 'Provider', cell: ({ provider }) => provider },
  { header: 'Currency', isShort: true, cell: ({ currency }) => currency },
  { header: 'Payments', isNumber: true, cell: ({ totals }) => totals.payments },
  { header: 'Success rate', isNumber: true, cell: ({ totals }) => rateText(totals) },
  {
    header: 'Received',
    isNumber: true,
    cell: ({ totals, currency }) => <Money cents={totals.receivedCents} currency={currency} />,
  },
  {
    header: 'Refunded',
    isNumber: true,
    cell: ({ totals, currency }) => <Money cents={totals.refundedCents} currency={currency} />,
  },
  { header: 'Disputes', isNumber: true, cell: ({ totals }) => totals.disputes },
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
