// Prints a row that differs from the log, as text and as JSON.
import type { RowDifference } from './comparison.ts'

/** Secrets of the payer, which a report must not show. */
const secretColumns: readonly string[] = ['client_secret']
const redacted = '[redacted]'
const maxTextLength = 80
const maxJsonLength = 500

export function rowText(row: RowDifference): string {
  if (row.kind !== 'different') return `  ${row.id}  ${row.kind}: ${where[row.kind]}`
  const columns = row.columns.map(
    ({ column, found, expected }) =>
      `      ${column}: ${valueText(column, found)} instead of ${valueText(column, expected)}`,
  )
  // JSON texts can differ and mean the same.
  return [
    `  ${row.id}  different`,
    ...(columns.length === 0 ? ['      only in the formatting of its JSON'] : columns),
  ].join('\n')
}

const where = {
  missing: 'it is in the log but not in the table',
  extra: 'it is in the table but not in the log',
} as const

/** A long value is cut and becomes text. */
export function rowJson(row: RowDifference): RowDifference {
  if (row.kind !== 'different') return row
  const columns = row.columns.map(({ column, found, expected }) => ({
    column,
    found: asJson(column, found),
    expected: asJson(column, expected),
  }))
  return { ...row, columns }
}

/** Values may contain control characters, which a terminal would interpret. */
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
