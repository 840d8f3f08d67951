// Tables as CSV files that spreadsheets open safely.

/** Spreadsheets take a cell that begins like this for a formula. */
const formulaStart = /^[=+\-@\t\r]/
const needsQuotes = /[",\r\n]/

/** Text that begins like a formula gets an apostrophe, which spreadsheets hide. Numbers stay numbers. */
function cellOf(value: string | number | boolean | null): string {
  if (value === null) return ''
  if (typeof value !== 'string') return String(value)
  const safe = formulaStart.test(value) ? `'${value}` : value
  return needsQuotes.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

export type CsvColumn<Row> = {
  readonly header: string
  readonly value: (row: Row) => string | number | boolean | null
}

/** The table with a header line, as in RFC 4180. */
export function csvOf<Row>(columns: readonly CsvColumn<Row>[], rows: readonly Row[]): string {
  const lines = [
    columns.map(({ header }) => cellOf(header)),
    ...rows.map((row) => columns.map(({ value }) => cellOf(value(row)))),
  ]
  return lines.map((cells) => `${cells.join(',')}\r\n`).join('')
}
