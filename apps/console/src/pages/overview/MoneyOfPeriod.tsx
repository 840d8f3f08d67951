// The money of the chosen period.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { reportQuery } from '../../api/reportQuery.ts'
import { type Days, daysText } from '../../format/days.ts'
import { ErrorState } from '../../parts/states.tsx'
import { MoneyCards } from '../reports/MoneyCards.tsx'

export function MoneyOfPeriod({ days, timeZone }: { readonly days: Days; readonly timeZone: string }) {
  const asked = { ...days, time_zone: timeZone }
  const { data, isPending, isError, error, refetch } = useQuery(reportQuery(asked))
  return (
    <section aria-label={`Money of ${daysText(days)}`} className="stack">
      {isError && <ErrorState error={error} retry={() => void refetch()} />}
      {(isPending || data) && <MoneyCards report={data} />}
      <p className="hint">
        Days begin at midnight in {timeZone}.{' '}
        <Link to="/reports" search={asked}>
          Report of {daysText(days)}
        </Link>
      </p>
    </section>
  )
}
