// How an export can differ from its manifest and from the log.
import { isDeepStrictEqual } from 'node:util'
import type { LogPosition } from '@paylog/domain/events'
import type { RawClient } from '@paylog/event-store/raw/rawClient'
import type { RawEvent } from '@paylog/event-store/raw/rawEvent'
import { readEventAt, readRetention } from '@paylog/event-store/raw/rawRead'
import type { ExportedLine } from './exportedLines.ts'
import { filtersText, type Manifest } from './exportManifest.ts'
import { type ExportSelection, isSelected } from './exportSelection.ts'

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
function nameInFile(line: Buffer | null): EventName | undefined {
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
function differenceText(difference: ExportDifference): string {
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

// Why a line of an export has no event in the log.

type ExportExtent = { readonly selection: ExportSelection; readonly head: LogPosition | undefined }

type Explanation = Extract<ExportDifference, { kind: 'extra' | 'no_longer_in_log' }>

const goneReasons = {
  closed: 'its stream was closed for good',
  deleted: 'its stream was deleted',
  truncated: 'its stream was cut off, or keeps only so many events or so long',
} as const

/** Asks the log what has become of the event. @throws LogUnusableError */
export async function explainExtra(log: RawClient, line: ExportedLine, covered: ExportExtent): Promise<Explanation> {
  const event = nameInFile(line.bytes) ?? null
  const place = { line: line.number, event }
  if (event === null || event.stream === '') return { kind: 'extra', ...place, in_log: false, reason: 'is no event' }
  const inLog = await reasonInLog(log, event, covered)
  if (inLog !== undefined) return { kind: 'extra', ...place, in_log: true, reason: inLog }
  const retention = await readRetention(log, { stream: event.stream, revision: BigInt(event.revision) })
  if (retention === 'kept') return { kind: 'extra', ...place, in_log: false, reason: 'is not in the log' }
  return { kind: 'no_longer_in_log', line: line.number, event, reason: goneReasons[retention] }
}

/** What an event does in the file that the log has. */
async function reasonInLog(
  log: RawClient,
  { id, position }: EventName,
  { selection, head }: ExportExtent,
): Promise<string | undefined> {
  const commit = BigInt(position)
  // Beyond what a server can count.
  if (commit >= 2n ** 63n) return undefined
  const found = await readEventAt(log, { commit, prepare: commit })
  if (found?.id !== id) return undefined
  if (head === undefined || commit > head.commit) return 'lies behind the part of the log that the manifest names'
  if (!isSelected(selection, found)) return 'does not belong into an export with the filters of the manifest'
  return 'stands in the file more than once'
}

// What came of checking an export, for people and for machines.

export type ExportVerdict = {
  readonly differences: number
  readonly told: readonly ExportDifference[]
  /** Whether the file has lines, and those that were looked up are about nothing that this log has or had. */
  readonly isOfAnotherLog: boolean
  /** Whether the file is the one that its manifest describes, so that what differs is the log. */
  readonly isAsManifest: boolean
  /** The position of the log's last event; null for an empty log. */
  readonly logEnd: string | null
}

export function verdictJson(file: string, { filters, count, head }: Manifest, verdict: ExportVerdict): string {
  const { differences, told, isAsManifest, logEnd } = verdict
  const outcome = { equal: differences === 0, file_is_as_manifest: isAsManifest }
  return JSON.stringify({ file, ...outcome, filters, count, head, log_end: logEnd, differences, listed: told })
}

export function verdictText(path: string, manifest: Manifest, verdict: ExportVerdict): string {
  const { differences, told, isOfAnotherLog, isAsManifest } = verdict
  if (differences === 0) {
    const { count, first_position, last_position, head } = manifest
    const events = count === 1 ? '1 event' : `${count} events`
    const range = count === 0 ? '' : `, positions ${first_position} to ${last_position}`
    const covered = head === null ? 'the log has nothing in that part' : `the log was compared up to position ${head}`
    return [
      `${path} is what its manifest says and what the log holds: ${events}${range}; ${covered}.`,
      `It holds ${filtersText(manifest)}.`,
      ...goneOn(manifest, verdict),
    ].join('\n')
  }
  const rest = differences - told.length
  return [
    ...told.map(differenceText),
    ...(rest > 0 ? [`… and ${rest} more.`] : []),
    isAsManifest
      ? 'The file is the one that its manifest describes: it is the log that is not what it was then, or is another one.'
      : 'The file is not the one that its manifest describes.',
    ...(isOfAnotherLog ? ['None of its events is in this log: it was most likely made from another one.'] : []),
    ...goneOn(manifest, verdict),
  ].join('\n')
}

/** Without an until the manifest alone says how far the export goes: only its reader can know whether that is far enough. */
function goneOn({ head, filters }: Manifest, { logEnd }: ExportVerdict): string[] {
  if (filters.until !== null || head === null || logEnd === null || BigInt(logEnd) <= BigInt(head)) return []
  return [`The log has gone on since, up to position ${logEnd}: what stands behind position ${head} was not compared.`]
}
