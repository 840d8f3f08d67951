// The money of a period by currency: received, refunded and disputed, each with the payments, refunds and disputes behind it.
import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { reportQuery } from '../../api/reportQuery.ts'
import { type Days, daysText } from '../../format/days.ts'
import { Money } from '../../parts/Money.tsx'
import { ErrorState } from '../../parts/states.tsx'
import { FigureLink } from '../reports/FigureLink.tsx'
import { type CurrencyTotals, currencyTotals, type MovedMoney, movedMoney } from '../reports/reportRows.ts'

export function MoneyCards({ days, timeZone }: { readonly days: Days; readonly timeZone: string }) {
  const query = useQuery(reportQuery({ ...days, time_zone: timeZone }))
  const totals = query.data && currencyTotals(query.data.rows)
  return (
    <section aria-label={`Money, ${daysText(days)}`} className="stack">
      {query.isError && <ErrorState error={query.error} retry={() => void query.refetch()} />}
      <div className="cards">
        {movedMoney.map((moved) => (
          <div key={moved.field} className="panel moneyCard">
            <h2>{moved.label}</h2>
            {totals === undefined && query.isPending && <Skeleton height={34} width="60%" />}
            {totals && query.data && <MoneyLines moved={moved} totals={totals} period={query.data} />}
          </div>
        ))}
      </div>
      <p className="hint">
        By the days of {timeZone}.{' '}
        <Link to="/reports" search={{ ...days, time_zone: timeZone }}>
          The report
        </Link>{' '}
        has the same by provider, and as CSV.
      </p>
    </section>
  )
}

function MoneyLines(props: {
  readonly moved: MovedMoney
  readonly totals: readonly CurrencyTotals[]
  readonly period: { readonly from: string; readonly to: string }
}) {
  const { moved, totals, period } = props
  if (totals.length === 0) return <p className="hint">Nothing in this period</p>
  return (
    <ul className="plainList moneyLines">
      {totals.map(({ currency, sums }) => (
        <li key={currency}>
          <FigureLink moved={moved} period={period} currency={currency}>
            <Money cents={sums[moved.field]} currency={currency} />
          </FigureLink>
        </li>
      ))}
    </ul>
  )
}
