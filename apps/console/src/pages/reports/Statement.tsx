// One provider and currency line by line: our log beside the provider's books.
import type { Report, ReportRow } from '../../api/apiTypes.ts'
import { providerName } from '../../format/providerTexts.ts'
import { type Column, DataTable } from '../../parts/DataTable.tsx'
import { Money } from '../../parts/Money.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { Dash } from '../../parts/Time.tsx'
import { FigureLink } from './FigureLink.tsx'
import { NotKnown } from './reportColumns.tsx'
import { type StatementLine, statementLines } from './reportRows.ts'

export function Statement({ row, report }: { readonly row: ReportRow; readonly report: Report }) {
  return (
    <Panel title={`${providerName(row.provider_id)} in ${row.currency}, compared with the provider’s books`} isFlush>
      <DataTable
        caption="Statement"
        columns={columnsOf(row, report)}
        rows={statementLines}
        rowKey={({ field }) => field}
      />
    </Panel>
  )
}

const columnsOf = (row: ReportRow, report: Report): readonly Column<StatementLine>[] => {
  const { currency, provider_id } = row
  const amount = (cents: number | null) => (cents === null ? <NotKnown /> : <Money cents={cents} currency={currency} />)
  const ours = (line: StatementLine) => {
    const { ours: cents } = row[line.field]
    // Only the provider knows its fees, payouts and balances.
    if (cents === null || !('list' in line)) return <Dash />
    return (
      <FigureLink list={line.list} period={report} currency={currency} provider={provider_id}>
        {amount(cents)}
      </FigureLink>
    )
  }
  const difference = ({ field }: StatementLine) => {
    const { ours: cents, difference } = row[field]
    return cents === null ? <Dash /> : amount(difference)
  }
  return [
    { header: 'Line', cell: ({ label }) => label },
    { header: 'Our log', isNumber: true, cell: ours },
    { header: 'Provider’s books', isNumber: true, cell: ({ field }) => amount(row[field].provider) },
    { header: 'Difference', isNumber: true, cell: difference },
  ]
}
