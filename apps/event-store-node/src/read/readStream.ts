// One stream, forwards or backwards.
import { streamDeleted, unknown } from '../protocol/refusal.ts'
import { pageRows, type StreamRange } from '../storage/logReader.ts'
import { type StoredEvent, ticksNow } from '../storage/storedEvent.ts'
import { firstReadable, oldestReadableTicks, type StreamView } from '../storage/streamHead.ts'
import type { Log } from './log.ts'
import {
  firstStreamPositionMessage,
  lastStreamPositionMessage,
  type Outlet,
  sendAll,
  streamNotFoundMessage,
} from './outlet.ts'
import type { From, ReadRequest } from './readRequest.ts'

type StreamRead = Extract<ReadRequest, { kind: 'read_stream' }>

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
  const sent = await sendRange(log, outlet, request, rangeOf(request, view))
  if (request.compatibility === 0 || request.backwards) return
  if (sent === 0n) await outlet.send(firstStreamPositionMessage(view.last + 1n))
  await outlet.send(lastStreamPositionMessage(view.last))
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

async function sendRange(log: Log, outlet: Outlet, request: StreamRead, range: StreamRange): Promise<bigint> {
  let left = range
  let sent = 0n
  while (left.first <= left.last && sent < request.count && !outlet.signal.aborted) {
    const limit = Math.min(pageRows, Number(request.count - sent))
    const page = request.backwards ? await log.streamBackwards(left, limit) : await log.streamForwards(left, limit)
    await sendAll(outlet, await log.messages(page.events, request))
    sent += BigInt(page.events.length)
    const last: StoredEvent | undefined = page.events.at(-1)
    if (last === undefined || page.end) break
    left = request.backwards ? { ...left, last: last.revision - 1n } : { ...left, first: last.revision + 1n }
  }
  return sent
}

function lesser(one: bigint, other: bigint): bigint {
  return one < other ? one : other
}
