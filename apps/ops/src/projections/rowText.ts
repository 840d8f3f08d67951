// Rows that are not what the log says, for operators and for machines.
import type { RowDifference } from '@paylog/projections/tables/comparison'

/** Never shown: whoever reads a report is not the payer. */
const secretColumns: readonly string[] = ['client_secret']
const redacted = '[redacted]'
const maxTextLength = 80
const maxJsonLength = 500

/** In lines for a terminal. */
export function rowText(row: RowDifference): string {
  if (row.kind !== 'different') return `  ${row.id}  ${row.kind}: ${where[row.kind]}`
  const columns = row.columns.map(
    ({ column, found, expected }) =>
      `      ${column}: ${valueText(column, found)} instead of ${valueText(column, expected)}`,
  )
  // Two texts of JSON can differ and mean the same, as far as can be told.
  return [`  ${row.id}  different`, ...(columns.length === 0 ? ['      in how its JSON is written'] : columns)].join(
    '\n',
  )
}

const where = { missing: 'the log has it, the table has not', extra: 'the table has it, the log has not' } as const

/** As data; a long value is cut off, and becomes text. */
export function rowJson(row: RowDifference): RowDifference {
  if (row.kind !== 'different') return row
  const columns = row.columns.map(({ column, found, expected }) => ({
    column,
    found: asJson(column, found),
    expected: asJson(column, expected),
  }))
  return { ...row, columns }
}

/** A column may hold what somebody else has written, and is shown on a terminal. */
function valueText(column: string, value: unknown): string {
  return cut(textOf(shown(column, value)), maxTextLength).replaceAll(/\p{C}/gu, '?')
}

function asJson(column: string, value: unknown): unknown {
  const safe = shown(column, value) ?? null
  const text = textOf(safe)
  return text.length > maxJsonLength ? cut(text, maxJsonLength) : safe
}

const shown = (column: string, value: unknown) => (secretColumns.includes(column) && value != null ? redacted : value)

const textOf = (value: unknown) => JSON.stringify(value ?? null)

const cut = (text: string, length: number) => (text.length > length ? `${text.slice(0, length)}…` : text)
