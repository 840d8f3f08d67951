// What came of checking an export, for people and for machines.
import { type ExportDifference, differenceText } from './exportDifference.ts'
import { filtersText, type Manifest } from './exportManifest.ts'

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
