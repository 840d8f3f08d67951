// Reads an export page by page, each within bounds, however large the log is and however rare the selected events are.
import { isAfter, type LogPosition } from '@paylog/domain/events'
import type { CallContext } from '../connection/calls.ts'
import type { RawEvent } from '../read/rawEvent.ts'
import { type LogPage, readLogPage, readPagesBackwards } from '../read/readPage.ts'
import { readLogEnd } from '../read/reads.ts'
import { exportLine } from './exportLine.ts'
import { type ExportSelection, isSelected, serverFilter } from './selection.ts'

export type ExportPageRequest = {
  readonly selection: ExportSelection
  /** Exclusive start; the start of the log when undefined. */
  readonly after: LogPosition | undefined
  /** Inclusive end, from the first page. */
  readonly head: LogPosition | undefined
  /** Lines. */
  readonly limit: number
}

export type ExportPage = {
  /** Without line feeds. May be empty although more follow. */
  readonly lines: readonly string[]
  /** The `after` of the next page; undefined when all events up to the head have been read. */
  readonly next: LogPosition | undefined
  /** The end of the export; undefined when no event can belong to it. */
  readonly head: LogPosition | undefined
}

/** A page ends after the first of these bounds, and its last read. */
const maxEvents = 10_000
const maxMs = 5_000
const maxCharacters = 8 << 20
/** Events of one read of the log. */
const minRead = 500
const maxRead = 2_000
/** How long the server may search for a selected event before the log is read without its help. */
const maxSearchMs = 2_000

/**
 * The pages of a selection, each read from where the last one ended and up to the same head, have the lines of the whole
 * export.
 * @throws the context's failure
 */
export async function readExportPage(context: CallContext, request: ExportPageRequest): Promise<ExportPage> {
  const startedAt = performance.now()
  const isOver = () => performance.now() - startedAt >= maxMs
  const head = request.head ?? (await readPageHead(context, request.selection, isOver))
  if (head === undefined) return { lines: [], next: undefined, head }
  const page = createPage(request, head)
  const filter = serverFilter(request.selection)
  let isFilteredHere = false
  let read = 0
  while (page.isOpen()) {
    const found: LogPage = await readLogPage(filter === undefined || isFilteredHere ? context : searching(context), {
      after: page.position(),
      filter,
      maxEvents: page.missing(),
      isFilteredHere,
    })
    page.add(found)
    read += found.read
    if (found.isSilent) isFilteredHere = true
    // A page without progress would look like the last one.
    if (page.position() !== request.after && (read >= maxEvents || isOver())) break
  }
  return page.end()
}

function createPage({ selection, after, limit }: ExportPageRequest, head: LogPosition) {
  const lines: string[] = []
  let characters = 0
  let position = after
  let isComplete = after !== undefined && !isAfter(head, after)
  const isFull = () => lines.length >= limit || characters >= maxCharacters
  function moveTo(next: LogPosition): void {
    position = next
    if (!isAfter(head, next)) isComplete = true
  }
  function addEvent(event: RawEvent): void {
    if (!isAfter(event.position, head) && isSelected(selection, event)) {
      const line = exportLine(event)
      lines.push(line)
      characters += line.length
    }
    moveTo(event.position)
  }
  return {
    position: () => position,
    missing: () => Math.min(Math.max(limit - lines.length, minRead), maxRead),
    isOpen: () => !isComplete && !isFull(),
    add({ events, last, isLast }: LogPage): void {
      for (const event of events) {
        if (isComplete || isFull()) return
        addEvent(event)
      }
      if (isComplete || isFull()) return
      if (last !== undefined) moveTo(last.position)
      if (isLast) isComplete = true
    },
    end: (): ExportPage => ({ lines, next: isComplete ? undefined : position, head }),
  }
}

const searching = (context: CallContext): CallContext => ({
  ...context,
  timeoutMs: Math.min(context.timeoutMs, maxSearchMs),
})

/**
 * Where the export ends, as in `readExportHead`. If the last event before `until` is too far from the end of the log, it is the end
 * of the log, which gives the same lines: events after that one are not selected.
 */
async function readPageHead(
  context: CallContext,
  { until }: ExportSelection,
  isOver: () => boolean,
): Promise<LogPosition | undefined> {
  if (until === undefined) return (await readLogEnd(context))?.position
  let end: LogPosition | undefined
  for await (const events of readPagesBackwards(context)) {
    end ??= events[0]?.position
    const last = events.find(({ created }) => created.getTime() < until)
    if (last !== undefined) return last.position
    if (isOver()) return end
  }
  return undefined
}
