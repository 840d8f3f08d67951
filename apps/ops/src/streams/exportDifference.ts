// How an export can differ from its manifest and from the log.
import { isDeepStrictEqual } from 'node:util'
import type { RawEvent } from '@paylog/event-store/raw/rawEvent'

/** What an event is called by. */
export type EventName = {
  readonly id: string
  readonly stream: string
  readonly revision: string
  readonly position: string
  readonly type: string
}

export type FieldDifference = { readonly field: string; readonly log: string | null; readonly file: string | null }

export type ExportDifference =
  /** The file is not the one that the manifest describes. */
  | {
      readonly kind: 'manifest'
      readonly field: string
      readonly manifest: string | null
      readonly file: string | null
    }
  /** The manifest covers less of the log than its own `until` asks for. */
  | { readonly kind: 'cut_short'; readonly head: string | null; readonly end: string }
  /** The manifest says that the log was empty, and it is not. */
  | { readonly kind: 'nothing_covered'; readonly end: string }
  /** The log is shorter than what the export covers. */
  | { readonly kind: 'other_log'; readonly head: string; readonly end: string | null }
  | { readonly kind: 'changed'; readonly line: number; readonly event: EventName; readonly fields: FieldDifference[] }
  | { readonly kind: 'out_of_order'; readonly line: number; readonly event: EventName }
  | { readonly kind: 'missing'; readonly event: EventName }
  /** `in_log` whether the log has the event all the same, where it does not belong into this export. */
  | {
      readonly kind: 'extra'
      readonly line: number
      readonly event: EventName | null
      readonly in_log: boolean
      readonly reason: string
    }
  | {
      readonly kind: 'no_longer_in_log'
      readonly line: number
      readonly event: EventName
      readonly reason: string
    }

export function nameOf({ id, stream, revision, position, type }: RawEvent): EventName {
  return { id, stream, revision: revision.toString(), position: position.commit.toString(), type }
}

type Fields = Readonly<Record<string, unknown>>

/** @returns undefined for a line that is no JSON object */
function fieldsOf(line: Buffer | string): Fields | undefined {
  try {
    const content: unknown = JSON.parse(line.toString())
    return isFields(content) ? content : undefined
  } catch {
    return undefined
  }
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** What a line of a file is called by, if it has all of it. */
export function nameInFile(line: Buffer | null): EventName | undefined {
  const fields = line === null ? undefined : fieldsOf(line)
  const [id, stream, revision, position, type] = ['id', 'stream', 'revision', 'position', 'type'].map((key) => {
    const value = fields?.[key]
    return typeof value === 'string' ? value : undefined
  })
  if (id === undefined || stream === undefined || type === undefined) return undefined
  if (!/^\d{1,20}$/.test(revision ?? '') || !/^\d{1,20}$/.test(position ?? '')) return undefined
  return revision === undefined || position === undefined ? undefined : { id, stream, revision, position, type }
}

/** Which fields of an event differ; those of data and metadata one by one. */
export function changedFields(log: Buffer, file: Buffer | null): FieldDifference[] {
  const recorded = fieldsOf(log) ?? {}
  const found = file === null ? undefined : fieldsOf(file)
  if (found === undefined) return [{ field: 'line', log: null, file: 'no JSON object' }]
  const fields = compare('', recorded, found)
  if (fields.length > 0) return fields
  // The same values in another order, with other spaces, twice, or as numbers that JavaScript cannot tell apart.
  return [{ field: 'line', log: null, file: 'the same values, written in another way' }]
}

function compare(prefix: string, log: Fields, file: Fields): FieldDifference[] {
  return [...new Set([...Object.keys(log), ...Object.keys(file)])].flatMap((key) => {
    const [recorded, found] = [log[key], file[key]]
    if (isDeepStrictEqual(recorded, found)) return []
    if (prefix === '' && isFields(recorded) && isFields(found)) return compare(`${key}.`, recorded, found)
    return [{ field: `${prefix}${key}`, log: shown(recorded), file: shown(found) }]
  })
}

const shownLength = 100

function shown(value: unknown): string | null {
  const text = value === undefined ? null : JSON.stringify(value)
  return text !== null && text.length > shownLength ? `${text.slice(0, shownLength)}…` : text
}

/** A difference in words. */
export function differenceText(difference: ExportDifference): string {
  switch (difference.kind) {
    case 'manifest': {
      const { field, manifest, file } = difference
      return `${field}: the manifest says ${manifest ?? 'none'}, the file has ${file ?? 'none'}`
    }
    case 'cut_short':
      return (
        `head: the manifest covers the log up to ${difference.head ?? 'its start'}, and the last event before its until stands ` +
        `at ${difference.end}: the export was cut off there, or the manifest was changed; or an event was recorded after the ` +
        'export, at a time before its until, by a server whose clock is far behind or was set back'
      )
    case 'nothing_covered':
      return (
        `head: the manifest says that the log was empty, and its last event stands at ${difference.end}: the manifest was ` +
        'changed, or the export was made from another log or before the first event was recorded'
      )
    case 'other_log':
      return (
        `The export covers the log up to position ${difference.head}, and this log ends at ${difference.end ?? 'its start'}: ` +
        'it is another log, or it was set back'
      )
    case 'changed':
      return `line ${difference.line}: ${eventText(difference.event)} was changed: ${difference.fields.map(fieldText).join('; ')}`
    case 'out_of_order':
      return `line ${difference.line}: ${eventText(difference.event)} is not where it stands in the log`
    case 'missing':
      return `${eventText(difference.event)} is in the log and not in the file`
    case 'extra':
      return `line ${difference.line}: ${difference.event === null ? 'This' : eventText(difference.event)} ${difference.reason}`
    case 'no_longer_in_log':
      return `line ${difference.line}: ${eventText(difference.event)} is no longer in the log: ${difference.reason}`
  }
}

function fieldText({ field, log, file }: FieldDifference): string {
  if (field === 'line') return `it is ${file}`
  return `${field} is ${file ?? 'not there'}, in the log ${log ?? 'not there'}`
}

const eventText = ({ stream, revision, type, id, position }: EventName) =>
  `${stream}@${revision} (${type}, id ${id}, position ${position})`
