// Rows in the text format of COPY (PostgreSQL documentation, "COPY", "Text Format").

import type { Projection, Value } from '../projection.ts'
import type { RowChange } from './batch.ts'
import { storedText } from './storedText.ts'

/** One line for each row: id, revision, and the columns in the order in which the projection names them. */
export function copyText(projection: Projection, rows: readonly RowChange[]): string {
  const columns = Object.entries(projection.columns).map(([name, { type }]) => ({ name, type }))
  let text = ''
  for (const { id, revision, values } of rows) {
    text += `${id}\t${revision}`
    for (const { name, type } of columns) text += `\t${field(type, values[name] ?? null)}`
    text += '\n'
  }
  return text
}

const special = /[\\\n\r\t]/
const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

function field(type: string, value: Value): string {
  const stored = storedText(type, value)
  if (stored === null) return '\\N'
  if (typeof stored !== 'string') return String(stored)
  return special.test(stored) ? stored.replaceAll(/[\\\n\r\t]/g, (letter) => escapes[letter] ?? letter) : stored
}
