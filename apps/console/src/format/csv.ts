// Tables as CSV files that spreadsheets open safely.
import { byteOrderMark, csvCell, csvLine } from '@paylog/domain/csvCell'

/** Numbers stay numbers. */
function cellOf(value: string | number | boolean | null): string {
  if (value === null) return ''
  return typeof value === 'string' ? csvCell(value) : String(value)
}

export type CsvColumn<Row> = {
  readonly header: string
  readonly value: (row: Row) => string | number | boolean | null
}

/** The table with a byte order mark and a header line, as in RFC 4180. */
export function csvOf<Row>(columns: readonly CsvColumn<Row>[], rows: readonly Row[]): string {
  const header = csvLine(columns.map(({ header }) => csvCell(header)))
  const lines = rows.map((row) => csvLine(columns.map(({ value }) => cellOf(value(row)))))
  return byteOrderMark + header + lines.join('')
}
