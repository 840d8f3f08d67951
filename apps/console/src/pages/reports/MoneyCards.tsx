// The money of a period by currency: received, refunded and disputed, each with the list behind it.
import { Skeleton } from '@mantine/core'
import type { Report } from '../../api/apiTypes.ts'
import { Money } from '../../parts/Money.tsx'
import { FigureLink } from './FigureLink.tsx'
import { type CurrencyTotals, currencyTotals, type MovedMoney, movedMoney } from './reportRows.ts'

/** @param props `report` of the period, undefined while it is loaded; `provider` of all its rows, if they are of one */
export function MoneyCards(props: { readonly report: Report | undefined; readonly provider?: string | undefined }) {
  const { report, provider } = props
  const totals = report && currencyTotals(report.rows)
  return (
    <div className="cards">
      {movedMoney.map((moved) => (
        <section key={moved.field} className="panel moneyCard" aria-label={moved.label}>
          <h2>{moved.label}</h2>
          {totals === undefined && <Skeleton height={34} width="60%" />}
          {totals?.length === 0 && <p className="hint">Nothing in this period</p>}
          {totals && report && totals.length > 0 && (
            <ul className="plainList">
              {totals.map((total) => (
                <li key={total.currency}>
                  <MoneyLine moved={moved} total={total} report={report} provider={provider} />
                </li>
              ))}
            </ul>
          )}
        </section>
      ))}
    </div>
  )
}

function MoneyLine(props: {
  readonly moved: MovedMoney
  readonly total: CurrencyTotals
  readonly report: Report
  readonly provider: string | undefined
}) {
  const { moved, total, report, provider } = props
  const { currency, sums } = total
  return (
    <FigureLink list={moved.list} period={report} currency={currency} provider={provider}>
      <Money cents={sums[moved.field]} currency={currency} />
    </FigureLink>
  )
}
