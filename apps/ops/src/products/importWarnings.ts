// What is told of lines that are in order, and yet may not say what they are meant to.
import type { ImportedLine } from './importing.ts'
import type { UnknownFields } from './unknownFields.ts'

export type ImportWarning =
  | ({ readonly code: 'unknown_fields' } & UnknownFields)
  | { readonly code: 'repeated_id'; readonly earlierLine: number }

/** Of so many lines with an id, the last ones, is known which came before: a file may have any number of them. */
export const rememberedIds = 50_000

/** @returns a function that is told of every line in turn, and says what there is to warn of */
export function createWarningCheck(): (settled: ImportedLine) => readonly ImportWarning[] {
  let recent = new Map<string, number>()
  let older = new Map<string, number>()

  /** The line that had the id before this one, if it is still known. */
  function earlierLine(id: string, line: number): number | undefined {
    const key = compact(id)
    const earlier = recent.get(key) ?? older.get(key)
    recent.set(key, line)
    if (recent.size >= rememberedIds) {
      older = recent
      recent = new Map()
    }
    return earlier
  }
  return ({ line, ...settled }) => {
    if (settled.outcome === 'empty') return []
    const warnings: ImportWarning[] = settled.unknown ? [{ code: 'unknown_fields', ...settled.unknown }] : []
    if (settled.outcome === 'rejected' || settled.id === undefined) return warnings
    const earlier = earlierLine(settled.id, line)
    // It would have changed nothing if it said the same.
    if (earlier !== undefined && settled.outcome === 'changed')
      warnings.push({ code: 'repeated_id', earlierLine: earlier })
    return warnings
  }
}

/** A text of its own of 16 bytes. The id as it is might keep the whole line that it was cut from in memory. */
const compact = (id: string) => Buffer.from(id.replaceAll('-', ''), 'hex').toString('latin1')

export const warningText = (line: number, warning: ImportWarning) => `line ${line}: ${textOf(warning)}`

function textOf(warning: ImportWarning): string {
  if (warning.code === 'repeated_id') return `the same id as line ${warning.earlierLine}, with another content`
  const { names, more } = warning
  const unnamed = more === 1 ? '1 whose name is no plain word' : `${more} whose names are no plain words`
  const rest = names.length > 0 ? `${more} more` : unnamed
  return `unknown fields, left out: ${[...names, ...(more > 0 ? [rest] : [])].join(', ')}`
}

/** The same as machines read it. */
export function warningJson(line: number, warning: ImportWarning): object {
  const { code } = warning
  if (code === 'repeated_id') return { line, warning: { code, earlier_line: warning.earlierLine } }
  const { names, more } = warning
  return { line, warning: { code, fields: names, ...(more > 0 && { more }) } }
}
