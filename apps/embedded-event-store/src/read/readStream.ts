// One stream, forwards or backwards.
import { streamDeleted, unknown } from '../protocol/callError.ts'
import { type Page, pageRows, type StreamRange } from '../storage/logReader.ts'
import { ticksNow } from '../storage/storedEvent.ts'
import { firstReadable, oldestReadableTicks, type StreamView } from '../storage/streamHead.ts'
import type { Log } from './log.ts'
import {
  firstStreamPositionMessage,
  lastStreamPositionMessage,
  type Outlet,
  sendEvents,
  streamNotFoundMessage,
} from './outlet.ts'
import type { From, ReadRequest } from './readRequest.ts'

type StreamRead = Extract<ReadRequest, { kind: 'read_stream' }>

/** What the real server reads at a time. It shows in the first positions, which it tells after an empty page. */
const realPageRows = 32n

/** @throws Refusal for a tombstoned stream, or a read forwards from the end */
export async function readStream(log: Log, outlet: Outlet, request: StreamRead): Promise<void> {
  if (!request.backwards && request.from === 'end') throw unknown('A read forwards cannot begin at the end')
  const view = await log.view(request.stream)
  if (view.tombstoned) throw streamDeleted(request.stream)
  // Never written to, nothing but metadata, or soft-deleted: all three look as if the stream were not there.
  if (view.last < 0n || view.softDeleted) {
    await outlet.send(streamNotFoundMessage(request.stream))
    return
  }
  const range = rangeOf(request, view)
  const page = await readPage(log, request, range, limitOf(request.count))
  // Clients that say they know positions are told where the stream begins, when that is not where they asked, and ends.
  const tellsPositions = request.compatibility > 0
  if (tellsPositions && !request.backwards) {
    for (const position of firstPositions(request, view, page)) await outlet.send(firstStreamPositionMessage(position))
  }
  await sendPages(log, outlet, request, { range, page })
  if (tellsPositions && !outlet.signal.aborted) await outlet.send(lastStreamPositionMessage(view.last))
}

function rangeOf(request: StreamRead, view: StreamView): StreamRange {
  const lowest = firstReadable(view)
  const oldestTicks = oldestReadableTicks(view, ticksNow())
  const from = revisionOf(request.from, view)
  if (request.backwards) {
    return { stream: request.stream, first: lowest, last: lesser(from, view.last), oldestTicks }
  }
  return { stream: request.stream, first: -lesser(-from, -lowest), last: view.last, oldestTicks }
}

function revisionOf(from: From, view: StreamView): bigint {
  if (from === 'start') return 0n
  return from === 'end' ? view.last : from
}

async function readPage(log: Log, request: StreamRead, range: StreamRange, limit: number): Promise<Page> {
  if (range.first > range.last) return { events: [], end: true }
  return request.backwards ? log.streamBackwards(range, limit) : log.streamForwards(range, limit)
}

/**
 * The real server reads page by page from where it was asked, and tells the next revision to read from after each page
 * that is empty because of truncation, because of age or beyond the end.
 */
function firstPositions(request: StreamRead, view: StreamView, page: Page): bigint[] {
  const positions: bigint[] = []
  const rows = lesser(realPageRows, request.count)
  const lowest = firstReadable(view)
  let from = revisionOf(request.from, view)
  if (from + rows - 1n < lowest) {
    positions.push(lowest)
    from = lowest
  }
  const begins = page.events[0]?.revision ?? view.last + 1n
  const emptyPage = page.events.length === 0 ? begins !== from : begins > from + rows - 1n
  return emptyPage ? [...positions, begins] : positions
}

async function sendPages(
  log: Log,
  outlet: Outlet,
  request: StreamRead,
  first: { readonly range: StreamRange; readonly page: Page },
): Promise<void> {
  let { range, page } = first
  let left = request.count
  while (!outlet.signal.aborted) {
    await sendEvents(log, outlet, page.events, request)
    left -= BigInt(page.events.length)
    const last = page.events.at(-1)
    if (last === undefined || page.end || left <= 0n) return
    range = request.backwards ? { ...range, last: last.revision - 1n } : { ...range, first: last.revision + 1n }
    page = await readPage(log, request, range, limitOf(left))
  }
}

function limitOf(count: bigint): number {
  return Number(lesser(BigInt(pageRows), count))
}

function lesser(one: bigint, other: bigint): bigint {
  return one < other ? one : other
}
