// Reads an export from the log page by page, each within bounds, however large the log is and however rare the events are.
import { isAfter, type LogPosition } from '@paylog/domain/events'
import type { CallContext } from '../connection/calls.ts'
import { createPageReader, readPagesBackwards } from '../read/readPage.ts'
import { readLogEnd } from '../read/reads.ts'
import { exportLine } from './exportLine.ts'
import type { ExportPage, ExportPageRequest } from './exportPages.ts'
import { createSelector, serverFilter } from './filters.ts'

/** A page ends after the first of these bounds, and its last read. */
const maxEvents = 10_000
const defaultMaxMs = 5_000
const maxCharacters = 8 << 20
/** Events of one read of the log. */
const minRead = 500
const maxRead = 2_000

/**
 * The pages of a selection, each read from where the last one ended and up to the same head, have the lines of the whole
 * export.
 * @param maxMs how long a page, and the search for the head, may take
 * @throws the context's failure
 */
export async function readExportPage(
  context: CallContext,
  request: ExportPageRequest,
  maxMs = defaultMaxMs,
): Promise<ExportPage> {
  const { filters, limit } = request
  const giveUpAt = performance.now() + maxMs
  const isLate = () => performance.now() > giveUpAt
  const head = positionOf(request.head) ?? (await readExportHead(context, filters.until, isLate))
  if (head === undefined) return { text: '', next: null, head: null }
  const isSelected = createSelector(filters)
  const readLog = createPageReader(context, serverFilter(filters))
  const lines: string[] = []
  let [characters, read] = [0, 0]
  let position = positionOf(request.after)
  const isFull = () => lines.length >= limit || characters >= maxCharacters
  const isComplete = () => position !== undefined && !isAfter(head, position)
  while (!isComplete() && !isFull() && read < maxEvents && (read === 0 || !isLate())) {
    const page = await readLog(position, Math.min(Math.max(limit - lines.length, minRead), maxRead))
    read += page.read
    for (const event of page.events) {
      if (isFull() || isAfter(event.position, head)) break
      position = event.position
      if (!isSelected(event)) continue
      const line = exportLine(event)
      lines.push(`${line}\n`)
      characters += line.length
    }
    if (!isFull()) position = page.isLast ? head : page.last?.position
  }
  const next = position === undefined || isComplete() ? null : String(position.commit)
  return { text: lines.join(''), next, head: String(head.commit) }
}

/**
 * Where an export ends: at the end of the log, or with `until` at the last event recorded before, so that a later export of a
 * longer log is the same.
 * @param isEnough called with the number of events after `until` that were read. When it returns true, the end is that of the log:
 *   the lines are the same, because events after `until` are not selected
 * @returns undefined when no event can belong to the export
 */
export async function readExportHead(
  context: CallContext,
  until: string | null,
  isEnough: (laterEvents: number) => boolean,
): Promise<LogPosition | undefined> {
  if (until === null) return (await readLogEnd(context))?.position
  const untilMs = Date.parse(until)
  let end: LogPosition | undefined
  let later = 0
  for await (const events of readPagesBackwards(context)) {
    end ??= events[0]?.position
    const last = events.find(({ created }) => created.getTime() < untilMs)
    if (last !== undefined) return last.position
    later += events.length
    if (isEnough(later)) return end
  }
  return undefined
}

/** On current servers commit and prepare position are equal. */
function positionOf(text: string | null): LogPosition | undefined {
  return text === null ? undefined : { commit: BigInt(text), prepare: BigInt(text) }
}
