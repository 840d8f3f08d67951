// How the deliveries of an endpoint went over time.
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { api, dataOf } from '../../api/api.ts'
import type { EndpointReport, EndpointStatistics } from '../../api/apiTypes.ts'
import { formatTime } from '../../format/time.ts'
import { usePreferences } from '../../layout/Preferences.tsx'
import { LazyChart } from '../../parts/chart/LazyChart.tsx'
import { type Column, DataTable } from '../../parts/DataTable.tsx'
import { ChoiceField } from '../../parts/fields.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { ErrorState, LoadingState } from '../../parts/states.tsx'
import { successRate } from './endpointRates.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const refreshMs = 30_000
const chartHeight = 220
const defaultDays = 2
const periods = [
  { value: '7', label: 'Last 7 days' },
  { value: '30', label: 'Last 30 days' },
]

/** @param props `days` of the period, as in the URL */
export function EndpointFigures(props: {
  readonly endpoint: EndpointReport
  readonly days: string | undefined
  readonly change: (changes: { readonly days: string | undefined }) => void
}) {
  const { endpoint, change } = props
  const days = Number(periods.find(({ value }) => value === props.days)?.value ?? defaultDays)
  const query = useStatistics(endpoint.endpoint, days)
  return (
    <Panel
      title="Deliveries over time"
      actions={
        <ChoiceField
          label="Period"
          any="Last 48 hours"
          choices={periods}
          value={props.days}
          change={(value) => change({ days: value })}
        />
      }
    >
      <div className="stack">
        <Figures endpoint={endpoint} />
        {query.isError && <ErrorState error={query.error} retry={() => void query.refetch()} />}
        {query.isPending && <LoadingState what="the figures" />}
        {query.data && <Charts rows={query.data} isDaily={days > defaultDays} />}
      </div>
    </Panel>
  )
}

function Figures({ endpoint: { recent, pending, failed } }: { readonly endpoint: EndpointReport }) {
  const figures: readonly (readonly [name: string, value: string, note: string])[] = [
    ['Delivered', recent === null ? '–' : successRate(recent), recent === null ? 'nothing in 24 hours' : 'in 24 hours'],
    [
      'Response time',
      recent === null ? '–' : `${recent.p50_ms.toLocaleString()} ms`,
      recent === null ? 'nothing in 24 hours' : `95 % within ${recent.p95_ms.toLocaleString()} ms`,
    ],
    ['Waiting', pending.toLocaleString(), 'to be sent, or tried again'],
    ['Failed', failed.toLocaleString(), 'not tried again'],
  ]
  return (
    <dl className="figures">
      {figures.map(([name, value, note]) => (
        <div key={name} data-bad={name === 'Failed' && failed > 0}>
          <dt>{name}</dt>
          <dd>
            <span className="number">{value}</span>
            <span className="hint">{note}</span>
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** The period ends with the present interval, so that it changes only when the next one begins. */
function useStatistics(endpoint: string, days: number) {
  const [interval, stepMs] = days > defaultDays ? (['day', dayMs] as const) : (['hour', hourMs] as const)
  const to = Math.ceil(Date.now() / stepMs) * stepMs
  const query = { from: new Date(to - days * dayMs).toISOString(), to: new Date(to).toISOString(), interval }
  return useQuery({
    queryKey: ['webhook-endpoints', endpoint, 'statistics', query],
    queryFn: ({ signal }) => dataOf(api.getEndpointStatistics({ path: { endpoint }, query, signal })),
    refetchInterval: refreshMs,
  })
}

function Charts({ rows, isDaily }: { readonly rows: readonly EndpointStatistics[]; readonly isDaily: boolean }) {
  const { zone } = usePreferences()
  const times = useMemo(() => rows.map(({ from }) => Date.parse(from) / 1_000), [rows])
  const series = useMemo(() => seriesOf(rows), [rows])
  // Days begin at midnight in UTC, so they are named in UTC.
  const isUtc = zone === 'utc' || isDaily
  const axes = useMemo(
    () => ({
      times: `${isDaily ? 'Day' : 'Hour'} of the event (${isUtc ? 'UTC' : 'local'})`,
      values: `Deliveries per ${isDaily ? 'day' : 'hour'}`,
    }),
    [isDaily, isUtc],
  )
  const busy = rows.filter(({ succeeded, failed, pending }) => succeeded + failed + pending > 0)
  return (
    <>
      <LazyChart times={times} series={series} height={chartHeight} isUtc={isUtc} axes={axes} />
      <details>
        <summary>The chart as a table</summary>
        {busy.length === 0 ? (
          <p className="hint">No deliveries in this period.</p>
        ) : (
          <DataTable
            caption="Deliveries over time"
            columns={columnsOf(isDaily, isUtc)}
            rows={busy.toReversed()}
            rowKey={({ from }) => from}
          />
        )}
      </details>
    </>
  )
}

const seriesOf = (rows: readonly EndpointStatistics[]) => [
  { label: 'Delivered', color: '--good-ink', values: rows.map(({ succeeded }) => succeeded) },
  { label: 'Failed', color: '--bad-ink', values: rows.map(({ failed }) => failed) },
  { label: 'Waiting', color: '--warn-ink', values: rows.map(({ pending }) => pending) },
]

const columnsOf = (isDaily: boolean, isUtc: boolean): readonly Column<EndpointStatistics>[] => [
  {
    header: `${isDaily ? 'Day' : 'Hour'} (${isUtc ? 'UTC' : 'local'})`,
    cell: ({ from }) => formatTime(from, isUtc ? 'utc' : 'local').slice(0, isDaily ? 10 : 16),
  },
  { header: 'Delivered', isNumber: true, cell: ({ succeeded }) => succeeded.toLocaleString() },
  { header: 'Failed', isNumber: true, cell: ({ failed }) => failed.toLocaleString() },
  { header: 'Waiting', isNumber: true, cell: ({ pending }) => pending.toLocaleString() },
]
