// Tables as CSV files that spreadsheets open safely.
import { visibleText } from './visibleText.ts'

/** Without it spreadsheets read UTF-8 as the encoding of their system. */
const byteOrderMark = '\ufeff'
/**
 * Where a formula may begin: at the start of a text, and after each character at which a program with other settings than
 * ours splits a row. Such a program ignores the quotes around the text, because for it they are in the middle of a cell.
 * Between that place and the sign there may be blanks, invisible characters and quotes. The signs include their full-width
 * and small forms.
 */
const formulaPlace = /(?<=^|[;,|\t\r\n])(?=[\s\p{C}"]*[=+\-@\u2212\ufe62\ufe63\ufe66\ufe6b\uff0b\uff0d\uff1d\uff20])/gu
const needsQuotes = /[",\r\n]/

/** What may be taken for a formula gets an apostrophe in front, which makes it a text. Numbers stay numbers. */
function cellOf(value: string | number | boolean | null): string {
  if (value === null) return ''
  if (typeof value !== 'string') return String(value)
  const safe = visibleText(value).replaceAll(formulaPlace, "'")
  return needsQuotes.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

export type CsvColumn<Row> = {
  readonly header: string
  readonly value: (row: Row) => string | number | boolean | null
}

/** The table with a byte order mark and a header line, as in RFC 4180. */
export function csvOf<Row>(columns: readonly CsvColumn<Row>[], rows: readonly Row[]): string {
  const lines = [
    columns.map(({ header }) => cellOf(header)),
    ...rows.map((row) => columns.map(({ value }) => cellOf(value(row)))),
  ]
  return byteOrderMark + lines.map((cells) => `${cells.join(',')}\r\n`).join('')
}
