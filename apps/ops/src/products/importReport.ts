// What became of the lines of an import, for people and for machines.
import type { DomainError } from '@paylog/domain/errors'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import type { ImportedLine } from './importing.ts'
import type { ImportWarning } from './importWarnings.ts'

type Rejected = Pick<Extract<ImportedLine, { outcome: 'rejected' }>, 'line' | 'error'>

const Fields = Type.Array(Type.Object({ field: Type.String(), message: Type.String() }))

/** What is wrong with each field, where that is known. */
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

/** One line for a line, with all that is wrong with it. */
export function rejectionText({ line, error }: Rejected): string {
  // The details of this one are amounts, those that follow from others as well.
  const amounts = error.code === 'amount_inconsistent' ? Object.entries(error.details ?? {}) : []
  const amountsText =
    amounts.length === 0 ? '' : ` (${amounts.map(([name, amount]) => `${name} ${amount}`).join(', ')})`
  return `line ${line}: ${reasonOf(error)}${amountsText}`
}

/** The same as machines read it, with the details that the HTTP API would give. */
export function rejectionJson({ line, error }: Rejected) {
  const { code, details } = error
  return { line, error: { code, message: reasonOf(error), ...(details && { details }) } }
}

export type ImportTally = {
  add(settled: ImportedLine, warnings: readonly ImportWarning[]): void
  lines(): number
  rejected(): number
  /** The number of the last line that counts; 0 before the first. */
  lastLine(): number
  text(): string
  /** @param isComplete whether the end of the file was reached */
  json(isComplete: boolean): object
}

/** Counts the lines. */
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
