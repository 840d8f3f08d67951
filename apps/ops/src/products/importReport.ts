// What became of the lines of an import, for people and for machines.
import type { DomainError } from '@paylog/domain/errors'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import type { Settled } from './importing.ts'

type Rejected = Extract<Settled, { outcome: 'rejected' }>

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
export const rejectionText = ({ line, error }: Rejected) => `line ${line}: ${reasonOf(error)}`

/** The same as machines read it. */
export function rejectionJson({ line, error }: Rejected) {
  const fields = fieldsOf(error)
  return { line, error: { code: error.code, message: reasonOf(error), ...(fields && { fields }) } }
}

export type ImportTally = {
  add(settled: Settled): void
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
  const counts = { added: 0, changed: 0, unchanged: 0, rejected: 0 }
  let lastLine = 0
  const lines = () => counts.added + counts.changed + counts.unchanged + counts.rejected
  return {
    add({ line, outcome }) {
      counts[outcome]++
      lastLine = line
    },
    lines,
    rejected: () => counts.rejected,
    lastLine: () => lastLine,
    text() {
      const { added, changed, unchanged, rejected } = counts
      const parts = `${added} added, ${changed} changed, ${unchanged} unchanged, ${rejected} rejected`
      return `${lines()} ${lines() === 1 ? 'line' : 'lines'}: ${parts}.`
    },
    json: (isComplete) => ({ complete: isComplete, last_line: lastLine, lines: lines(), ...counts }),
  }
}
