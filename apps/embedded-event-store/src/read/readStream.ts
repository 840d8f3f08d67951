// Reads one stream, forwards or backwards.
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

/** EventStoreDB's page size, which is visible in the first positions that it sends after empty pages. */
const realPageRows = 32n

/** @throws CallError for a tombstoned stream, or a forwards read from the end */
export async function readStream(log: Log, outlet: Outlet, request: StreamRead): Promise<void> {
  if (!request.backwards && request.from === 'end') throw unknown('A read forwards cannot begin at the end')
  const view = await log.view(request.stream)
  if (view.tombstoned) throw streamDeleted(request.stream)
  // Streams without events, with metadata only, or soft-deleted: all are reported as not found.
  if (view.last < 0n || view.softDeleted) {
    await outlet.send(streamNotFoundMessage(request.stream))
    return
  }
  const range = rangeOf(request, view)
  const page = await readPage(log, request, range, limitOf(request.count))
  // Clients that support positions get the stream's first position, if it differs from the requested one, and its last.
  const sendsPositions = request.compatibility > 0
  if (sendsPositions && !request.backwards) {
    for (const position of firstPositions(request, view, page)) await outlet.send(firstStreamPositionMessage(position))
  }
  await sendPages(log, outlet, request, { range, page })
  if (sendsPositions && !outlet.signal.aborted) await outlet.send(lastStreamPositionMessage(view.last))
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
 * EventStoreDB reads page by page from the requested revision, and sends the next revision to read from after each page
 * that is empty because of truncation, age or the end of the stream.
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
