// Why a line of an export has no event in the log.
import type { LogPosition } from '@paylog/domain/logPosition'
import type { RawClient } from '@paylog/event-store/raw/rawClient'
import { readEventAt } from '@paylog/event-store/raw/rawRead'
import { readRetention } from '@paylog/event-store/raw/retention'
import { type ExportDifference, type EventName, nameInFile } from './exportDifference.ts'
import type { ExportedLine } from './exportedLines.ts'
import { isSelected, type ExportSelection } from './exportSelection.ts'

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
