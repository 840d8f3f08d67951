// The first difference between an export, its manifest and the log, and what it is called. Runs in browsers too.
import { isSame } from './lines.ts'
import type { Manifest } from './manifest.ts'

export type ExportedLine = {
  /** From 1. */
  readonly number: number
  /** `null` for a line that is longer than any event. */
  readonly bytes: Uint8Array | null
  /** Whether it ends with a single line feed. */
  readonly isWhole: boolean
}

/** The identity of an event. */
export type EventName = {
  readonly id: string
  readonly stream: string
  readonly revision: string
  readonly position: string
  readonly type: string
}

/** The first field that differs, such as `data.amount_cents`; `line` when the line as a whole does. */
type FieldDifference = { readonly field: string; readonly log: string | null; readonly file: string | null }
type Sums = Pick<Manifest, 'count' | 'first_position' | 'last_position' | 'bytes' | 'sha256'>

/** An event is null where the line is none. */
export type Difference =
  /** The file is not the one that the manifest describes. */
  | {
      readonly kind: 'manifest'
      readonly field: keyof Sums
      readonly manifest: string | null
      readonly file: string | null
    }
  /** The log ends before the part that the export covers. */
  | { readonly kind: 'other_log'; readonly head: string; readonly end: string | null }
  | ({
      readonly kind: 'line'
      readonly line: number
      readonly expected: EventName | null
      readonly found: EventName | null
    } & FieldDifference)
  | { readonly kind: 'file_ends'; readonly line: number; readonly expected: EventName | null }
  /** The part of the log that the export covers. */
  | { readonly kind: 'log_ends'; readonly line: number; readonly found: EventName | null }

const utf8 = { encoder: new TextEncoder(), decoder: new TextDecoder() }

/** @param expected the line of the log, undefined at its end @returns undefined when both are the same bytes */
export function lineDifference(line: ExportedLine, expected: string | undefined): Difference | undefined {
  const text = line.bytes === null ? '' : utf8.decoder.decode(line.bytes)
  if (expected === undefined) return { kind: 'log_ends', line: line.number, found: nameIn(text) }
  if (line.bytes !== null && isSame(line.bytes, utf8.encoder.encode(expected)) && line.isWhole) return undefined
  const names = { expected: nameIn(expected), found: nameIn(text) }
  return { kind: 'line', line: line.number, ...names, ...changedField(fieldsOf(expected), fieldsOf(text), line) }
}

/** The first field in which the file is not the one that the manifest describes. */
export function manifestDifference(manifest: Manifest, sums: Sums): Difference | undefined {
  const fields = ['count', 'first_position', 'last_position', 'bytes', 'sha256'] as const
  const field = fields.find((each) => manifest[each] !== sums[each])
  return field && { kind: 'manifest', field, manifest: asText(manifest[field]), file: asText(sums[field]) }
}

const asText = (value: string | number | null) => (value === null ? null : String(value))

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function fieldsOf(line: string): Fields | undefined {
  try {
    const content: unknown = JSON.parse(line)
    return isFields(content) ? content : undefined
  } catch {
    return undefined
  }
}

/** The event of a line; null when the line does not have all of its identity. */
export function nameIn(line: string): EventName | null {
  const { id, stream, revision, position, type } = fieldsOf(line) ?? {}
  const isNamed = [id, stream, revision, position, type].every((each) => typeof each === 'string')
  return isNamed ? ({ id, stream, revision, position, type } as EventName) : null
}

function changedField(log: Fields = {}, file: Fields | undefined, { isWhole }: ExportedLine): FieldDifference {
  if (file === undefined) return { field: 'line', log: null, file: 'not a JSON object' }
  // Other order or spacing, a repeated key, or numbers that JavaScript cannot distinguish.
  const notation = isWhole ? 'the same values in another notation' : 'not ended by a single line feed'
  return differingField('', log, file) ?? { field: 'line', log: null, file: notation }
}

/** Fields of data and metadata count one by one. */
function differingField(prefix: string, log: Fields, file: Fields): FieldDifference | undefined {
  for (const key of new Set([...Object.keys(log), ...Object.keys(file)])) {
    const [recorded, found] = [log[key], file[key]]
    if (prefix === '' && isFields(recorded) && isFields(found)) {
      const inner = differingField(`${key}.`, recorded, found)
      if (inner !== undefined) return inner
    } else if (JSON.stringify(recorded) !== JSON.stringify(found))
      return { field: `${prefix}${key}`, log: shown(recorded), file: shown(found) }
  }
  return undefined
}

const shownLength = 100

function shown(value: unknown): string | null {
  const text = value === undefined ? null : JSON.stringify(value)
  return text !== null && text.length > shownLength ? `${text.slice(0, shownLength)}…` : text
}

/** The difference as a sentence without its full stop. */
export function differenceText(difference: Difference): string {
  switch (difference.kind) {
    case 'manifest': {
      const { field, manifest, file } = difference
      return `${field}: ${manifest ?? 'none'} in the manifest, ${file ?? 'none'} in the file`
    }
    case 'other_log':
      return (
        `The export covers the log up to position ${difference.head}, and this log ends at ${difference.end ?? 'its start'}: ` +
        'it is another log, or an older backup of it'
      )
    case 'line': {
      const { line, expected, found, field, log, file } = difference
      const isSameEvent = found === null || found.id === expected?.id
      if (!isSameEvent) return `line ${line}: the file has ${eventText(found)}, and the log ${eventText(expected)}`
      const changed =
        field === 'line' ? `it is ${file}` : `${field} is ${file ?? 'absent'}, in the log ${log ?? 'absent'}`
      return `line ${line}, ${eventText(expected)}: ${changed}`
    }
    case 'file_ends':
      return `line ${difference.line}: the file ends here, and the log has ${eventText(difference.expected)}`
    case 'log_ends':
      return `line ${difference.line}: this part of the log ends here, and the file has ${eventText(difference.found)}`
  }
}

/** @param event null for a line that is none */
export function eventText(event: EventName | null): string {
  if (event === null) return 'a line that is no event'
  const { stream, revision, type, id, position } = event
  return `${stream}@${revision} (${type}, id ${id}, position ${position})`
}
