// Prints a row that differs from the log, as text and as JSON.
import type { RowDifference } from './comparison.ts'

const maxTextLength = 80
const maxJsonLength = 500

export function rowText(row: RowDifference): string {
  if (row.kind !== 'different') return `  ${row.id}  ${row.kind}: ${where[row.kind]}`
  const columns = row.columns.map(
    ({ column, found, expected }) => `      ${column}: ${valueText(found)} instead of ${valueText(expected)}`,
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
    found: asJson(found),
    expected: asJson(expected),
  }))
  return { ...row, columns }
}

/** Values may contain control characters, which a terminal would interpret. */
function valueText(value: unknown): string {
  return cut(textOf(value), maxTextLength).replaceAll(/\p{C}/gu, '?')
}

function asJson(value: unknown): unknown {
  const text = textOf(value)
  return text.length > maxJsonLength ? cut(text, maxJsonLength) : (value ?? null)
}

const textOf = (value: unknown) => JSON.stringify(value ?? null)

const cut = (text: string, length: number) => (text.length > length ? `${text.slice(0, length)}…` : text)
