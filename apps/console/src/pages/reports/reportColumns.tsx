// The columns of a report.
import { Link } from '@tanstack/react-router'
import type { Report, ReportRow } from '../../api/apiTypes.ts'
import { providerName } from '../../format/providerTexts.ts'
import { Badge } from '../../parts/Badge.tsx'
import type { Column } from '../../parts/DataTable.tsx'
import { Money } from '../../parts/Money.tsx'
import { FigureLink } from './FigureLink.tsx'
import { differenceOf, movedMoney, netCents } from './reportRows.ts'

/** @param report that the figures lead from; undefined before it is there */
export const reportColumns = (report: Report | undefined): readonly Column<ReportRow>[] => [
  {
    header: 'Provider',
    cell: ({ provider_id, currency }) => (
      <Link to="/reports" search={(now: object) => ({ ...now, provider_id, currency })} className="rowTitleText">
        {providerName(provider_id)}, {currency}
      </Link>
    ),
  },
  {
    header: 'Payments',
    isNumber: true,
    cell: ({ payments, provider_id, currency }) =>
      report && (
        <FigureLink list="/payments" status="succeeded" period={report} currency={currency} provider={provider_id}>
          {payments.toLocaleString()}
        </FigureLink>
      ),
  },
  ...movedMoney.map(
    ({ field, label, list }): Column<ReportRow> => ({
      header: label,
      isNumber: true,
      cell: ({ [field]: { ours }, provider_id, currency }) =>
        report && (
          <FigureLink list={list} period={report} currency={currency} provider={provider_id}>
            <Money cents={ours} currency={currency} />
          </FigureLink>
        ),
    }),
  ),
  { header: 'Net', isNumber: true, cell: (row) => <Money cents={netCents(row)} currency={row.currency} /> },
  { header: 'Provider’s books', isShort: true, cell: (row) => <Books row={row} /> },
]

function Books({ row }: { readonly row: ReportRow }) {
  const difference = differenceOf(row)
  if (difference.status === 'unknown') return <NotKnown />
  const { lines } = difference
  return lines === 0 ? (
    <Badge text="agree" tone="good" />
  ) : (
    <Badge text={lines === 1 ? '1 difference' : `${lines} differences`} tone="bad" />
  )
}

/** For an amount that nobody knows, which is not 0. */
export const NotKnown = () => <span className="hint">not known yet</span>
