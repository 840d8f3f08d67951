// Prints the results of an import, with warnings about lines that are valid but doubtful.
import type { DomainError } from '@paylog/domain/errors'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import type { ImportedLine } from './importLines.ts'
import type { UnknownFields } from './productLine.ts'

export type ImportWarning =
  | ({ readonly code: 'unknown_fields' } & UnknownFields)
  | { readonly code: 'repeated_id'; readonly earlierLine: number }

/** Repeated ids are only found among this many latest ids, because a file may have any number of lines. */
export const rememberedIds = 50_000

/** @returns a function that takes every line in turn and returns its warnings */
export function createWarningCheck(): (settled: ImportedLine) => readonly ImportWarning[] {
  let recent = new Map<string, number>()
  let older = new Map<string, number>()

  /** The number of the earlier line with this id, if remembered. */
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
    // Without a change the lines were the same.
    if (earlier !== undefined && settled.outcome === 'changed')
      warnings.push({ code: 'repeated_id', earlierLine: earlier })
    return warnings
  }
}

/** 16 bytes in their own string. The id itself could keep the whole line in memory that it was cut from. */
const compact = (id: string) => Buffer.from(id.replaceAll('-', ''), 'hex').toString('latin1')

export const warningText = (line: number, warning: ImportWarning) => `line ${line}: ${textOf(warning)}`

function textOf(warning: ImportWarning): string {
  if (warning.code === 'repeated_id') return `the same id as line ${warning.earlierLine}, with different content`
  const { names, more } = warning
  const unnamed = more === 1 ? '1 with an unusual name' : `${more} with unusual names`
  const rest = names.length > 0 ? `${more} more` : unnamed
  return `ignored unknown fields: ${[...names, ...(more > 0 ? [rest] : [])].join(', ')}`
}

export function warningJson(line: number, warning: ImportWarning): object {
  const { code } = warning
  if (code === 'repeated_id') return { line, warning: { code, earlier_line: warning.earlierLine } }
  const { names, more } = warning
  return { line, warning: { code, fields: names, ...(more > 0 && { more }) } }
}

type Rejected = Pick<Extract<ImportedLine, { outcome: 'rejected' }>, 'line' | 'error'>

const Fields = Type.Array(Type.Object({ field: Type.String(), message: Type.String() }))

/** The errors of the fields, if the error has them. */
function fieldsOf({ details }: DomainError): Static<typeof Fields> | undefined {
  const fields = details?.fields
  return Value.Check(Fields, fields) ? fields : undefined
}

function reasonOf(error: DomainError): string {
  return (
    fieldsOf(error)
      ?.map(({ field, message }) => `${field} ${message}`)
      .join('; ') ?? error.message
  )
}

/** One line with all errors of the input line. */
export function rejectionText({ line, error }: Rejected): string {
  // For this code the details are the amounts, derived ones included.
  const amounts = error.code === 'amount_inconsistent' ? Object.entries(error.details ?? {}) : []
  const amountsText =
    amounts.length === 0 ? '' : ` (${amounts.map(([name, amount]) => `${name} ${amount}`).join(', ')})`
  return `line ${line}: ${reasonOf(error)}${amountsText}`
}

/** With the details that the HTTP API would return. */
export function rejectionJson({ line, error }: Rejected) {
  const { code, details } = error
  return { line, error: { code, message: reasonOf(error), ...(details && { details }) } }
}

export type ImportTally = {
  add(settled: ImportedLine, warnings: readonly ImportWarning[]): void
  lines(): number
  rejected(): number
  /** The number of the last counted line, or 0. */
  lastLine(): number
  text(): string
  /** @param isComplete whether the end of the file was reached */
  json(isComplete: boolean): object
}

export function createImportTally(): ImportTally {
  const counts = { added: 0, changed: 0, unchanged: 0, rejected: 0, empty: 0 }
  const warned = { unknown_fields: 0, repeated_id: 0 }
  let lines = 0
  let lastLine = 0
  return {
    add({ line, outcome }, warnings) {
      counts[outcome]++
      for (const { code } of warnings) warned[code]++
      lines++
      lastLine = line
    },
    lines: () => lines,
    rejected: () => counts.rejected,
    lastLine: () => lastLine,
    text() {
      const { added, changed, unchanged, rejected, empty } = counts
      const parts = [`${added} added`, `${changed} changed`, `${unchanged} unchanged`, `${rejected} rejected`]
      if (empty > 0) parts.push(`${empty} empty`)
      const remarks: string[] = []
      if (warned.unknown_fields > 0) remarks.push(`${warned.unknown_fields} with unknown fields`)
      if (warned.repeated_id > 0) remarks.push(`${warned.repeated_id} with the id of an earlier line`)
      const also = remarks.length > 0 ? `; ${remarks.join(', ')}` : ''
      return `${lines} ${lines === 1 ? 'line' : 'lines'}: ${parts.join(', ')}${also}.`
    },
    json: (isComplete) => ({
      complete: isComplete,
      last_line: lastLine,
      lines,
      ...counts,
      unknown_fields: warned.unknown_fields,
      repeated_ids: warned.repeated_id,
    }),
  }
}
