// The ways in which an export can differ from its manifest and the log, as text and as JSON.
import { isDeepStrictEqual } from 'node:util'
import type { RawClient } from '@paylog/event-store/connection/calls'
import type { Finding } from '@paylog/event-store/export/compareExport'
import type { ExportedLine } from '@paylog/event-store/export/exportedLines'
import { createSelector, filtersText } from '@paylog/event-store/export/filters'
import type { Manifest } from '@paylog/event-store/export/manifest'
import type { LogLine } from '@paylog/event-store/export/pairing'
import type { RawEvent } from '@paylog/event-store/read/rawEvent'
import { readEventAt } from '@paylog/event-store/read/reads'
import type { ExportProof } from './exportProof.ts'

/** The identity of an event. */
export type EventName = {
  readonly id: string
  readonly stream: string
  readonly revision: string
  readonly position: string
  readonly type: string
}

export type FieldDifference = { readonly field: string; readonly log: string | null; readonly file: string | null }

/** `event` is null for a line that is none. */
type LineDifference = { readonly line: number; readonly event: EventName | null }

export type ExportDifference =
  | Extract<Finding, { kind: 'manifest' | 'other_log' | 'nothing_covered' }>
  /** The lines are not those that the checkpoint of the manifest signed, or it is none. */
  | { readonly kind: 'checkpoint'; readonly reason: string }
  | ({ readonly kind: 'changed'; readonly fields: readonly FieldDifference[] } & LineDifference)
  | ({ readonly kind: 'out_of_order' } & LineDifference)
  | { readonly kind: 'missing'; readonly event: EventName | null }
  /** `in_log`: the log has the event, but it does not belong here. */
  | ({ readonly kind: 'extra'; readonly in_log: boolean; readonly reason: string } & LineDifference)

/** A finding with the name of its event and the fields that differ. */
export function differenceOf(finding: Exclude<Finding, { kind: 'extra' }>): ExportDifference {
  if (!('expected' in finding)) return finding
  const event = nameInLine(finding.expected.bytes)
  if (finding.kind === 'missing') return { kind: 'missing', event }
  const { kind, line } = finding
  const place = { line: line.number, event }
  return kind === 'changed' ? { kind, ...place, fields: changedFields(line, finding.expected) } : { kind, ...place }
}

export function nameOf({ id, stream, revision, position, type }: RawEvent): EventName {
  return { id, stream, revision: revision.toString(), position: position.commit.toString(), type }
}

type Fields = Readonly<Record<string, unknown>>

/** @returns undefined for a line that is not a JSON object */
function fieldsOf(line: Uint8Array): Fields | undefined {
  try {
    const content: unknown = JSON.parse(Buffer.from(line).toString())
    return isFields(content) ? content : undefined
  } catch {
    return undefined
  }
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The identity of the event in a line; null when the line does not have all of it. */
function nameInLine(line: Uint8Array | null): EventName | null {
  const fields = line === null ? undefined : fieldsOf(line)
  const [id, stream, revision, position, type] = ['id', 'stream', 'revision', 'position', 'type'].map((key) => {
    const value = fields?.[key]
    return typeof value === 'string' ? value : undefined
  })
  if (!id || !stream || type === undefined || !isNumber(revision) || !isNumber(position)) return null
  return { id, stream, revision, position, type }
}

const isNumber = (text: string | undefined): text is string => /^\d{1,20}$/.test(text ?? '')

/** The fields that differ. Those of data and metadata are listed one by one. */
function changedFields(line: ExportedLine, expected: LogLine): FieldDifference[] {
  const recorded = fieldsOf(expected.bytes) ?? {}
  const found = line.bytes === null ? undefined : fieldsOf(line.bytes)
  if (found === undefined) return [{ field: 'line', log: null, file: 'not a JSON object' }]
  const fields = compare('', recorded, found)
  if (fields.length > 0) return fields
  if (!line.isWhole) return [{ field: 'line', log: null, file: 'does not end with a single line feed' }]
  // Other order or spacing, a repeated key, or numbers that JavaScript cannot distinguish.
  return [{ field: 'line', log: null, file: 'the same values in another notation' }]
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

function differenceText(difference: ExportDifference): string {
  switch (difference.kind) {
    case 'manifest': {
      const { field, manifest, file } = difference
      return `${field}: ${manifest ?? 'none'} in the manifest, ${file ?? 'none'} in the file`
    }
    case 'nothing_covered':
      return (
        `head: the manifest describes an empty log, and the last event of this log is at ${difference.end}: the manifest was ` +
        'changed, or the export was made from another log or before the first event'
      )
    case 'checkpoint':
      return `checkpoint: ${difference.reason}`
    case 'other_log':
      return (
        `The export covers the log up to position ${difference.head}, and this log ends at ${difference.end ?? 'its start'}: ` +
        'it is another log, or an older backup of it'
      )
    case 'changed':
      return `line ${difference.line}: ${eventText(difference.event)} was changed: ${difference.fields.map(fieldText).join('; ')}`
    case 'out_of_order':
      return `line ${difference.line}: ${eventText(difference.event)} is not in the order of the log`
    case 'missing':
      return `${eventText(difference.event)} is missing from the file`
    case 'extra':
      return `line ${difference.line}: ${eventText(difference.event)} ${difference.reason}`
  }
}

function fieldText({ field, log, file }: FieldDifference): string {
  if (field === 'line') return `it is ${file}`
  return `${field} is ${file ?? 'absent'}, in the log ${log ?? 'absent'}`
}

function eventText(event: EventName | null): string {
  if (event === null) return 'This'
  const { stream, revision, type, id, position } = event
  return `${stream}@${revision} (${type}, id ${id}, position ${position})`
}

/** Looks up in the log why a line has no event there. @throws LogUnusableError */
export async function explainExtra(
  log: RawClient,
  { number: line, bytes }: ExportedLine,
  manifest: Manifest,
): Promise<Extract<ExportDifference, { kind: 'extra' }>> {
  const event = nameInLine(bytes)
  if (event === null) return { kind: 'extra', line, event, in_log: false, reason: 'is not an event' }
  const reason = await reasonInLog(log, event, manifest)
  return { kind: 'extra', line, event, in_log: reason !== undefined, reason: reason ?? 'is not in the log' }
}

/** Why an event of the log does not belong at this place of the file. */
async function reasonInLog(
  log: RawClient,
  { id, position }: EventName,
  { filters, head }: Manifest,
): Promise<string | undefined> {
  const commit = BigInt(position)
  // Beyond the range of the server.
  if (commit >= 2n ** 63n) return undefined
  const found = await readEventAt(log, { commit, prepare: commit })
  if (found?.id !== id) return undefined
  if (head === null || commit > BigInt(head)) return 'is after the part of the log that the manifest covers'
  if (!createSelector(filters)(found)) return 'does not match the filters of the manifest'
  return 'is in the file more than once'
}

export type ExportVerdict = {
  readonly differences: number
  readonly shownDifferences: readonly ExportDifference[]
  /** Whether the file has lines, and this log has none of those that were looked up. */
  readonly isOfAnotherLog: boolean
  /** Whether the file matches its manifest, so that the log must have changed. */
  readonly isAsManifest: boolean
  /** Where an export with the same filters would end now. Undefined when the log was not read. */
  readonly logEnd: string | null | undefined
  readonly proof: ExportProof
}

export function verdictJson(file: string, { filters, count, head }: Manifest, verdict: ExportVerdict) {
  const { differences, shownDifferences, isAsManifest, logEnd, proof } = verdict
  const outcome = { equal: differences === 0, file_is_as_manifest: isAsManifest }
  return {
    file,
    ...outcome,
    filters,
    count,
    head,
    log_end: logEnd ?? null,
    checkpoint: proof.checkpoint,
    proven: proof.events,
    differences,
    listed: shownDifferences,
  }
}

export function verdictText(path: string, manifest: Manifest, verdict: ExportVerdict): string {
  const { differences, shownDifferences, isOfAnotherLog, logEnd } = verdict
  if (differences === 0) {
    const { count, first_position, last_position, head } = manifest
    const events = count === 1 ? '1 event' : `${count} events`
    const range = count === 0 ? '' : `, positions ${first_position} to ${last_position}`
    const covered = head === null ? 'the log has no events in that part' : `the log was compared up to position ${head}`
    return [
      logEnd === undefined
        ? `${path} matches its manifest: ${events}${range}; the log was not read.`
        : `${path} matches its manifest and the log: ${events}${range}; ${covered}.`,
      `It contains ${filtersText(manifest.filters)}.`,
      proofText(verdict.proof),
      ...goneOn(manifest, verdict),
    ].join('\n')
  }
  const rest = differences - shownDifferences.length
  return [
    ...shownDifferences.map(differenceText),
    ...(rest > 0 ? [`… and ${rest} more.`] : []),
    causeText(verdict),
    ...(isOfAnotherLog ? ['None of its events is in this log: it was most likely exported from another one.'] : []),
    ...goneOn(manifest, verdict),
  ].join('\n')
}

function causeText({ isAsManifest, logEnd }: ExportVerdict): string {
  if (!isAsManifest) return 'The file does not match its manifest.'
  if (logEnd === undefined) return 'The file matches its manifest: both were changed, or the checkpoint was.'
  return 'The file matches its manifest, so the log has changed since or is another one, or both files were changed.'
}

/** What the checkpoint proves of an export without differences. */
function proofText({ checkpoint, events, limit }: ExportProof): string {
  const signed =
    checkpoint && `the checkpoint of ${checkpoint.origin} over the first ${checkpoint.size} events of the log`
  if (signed === null) return `It does not prove itself: ${limit}.`
  if (events === 0) return `Its signature is right: ${signed} covers it. It does not prove itself: ${limit}.`
  if (limit === null) return `It proves itself: its lines are those that ${signed} signed.`
  return `Its first ${events} events prove themselves: they are those that ${signed} signed; ${limit}.`
}

/** Without `until`, the end of the export is only in the manifest, and only its reader can judge it. */
function goneOn({ head, filters }: Manifest, { logEnd }: ExportVerdict): string[] {
  if (
    filters.until !== null ||
    head === null ||
    logEnd === null ||
    logEnd === undefined ||
    BigInt(logEnd) <= BigInt(head)
  )
    return []
  return [`The log has grown since, up to position ${logEnd}: events after position ${head} were not compared.`]
}
