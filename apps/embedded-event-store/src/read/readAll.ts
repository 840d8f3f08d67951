// Reads the whole log, forwards or backwards, optionally filtered. Stream metadata does not truncate here.
import { pageRows } from '../storage/logReader.ts'
import { isHidden } from './eventFilter.ts'
import type { Log } from './log.ts'
import { type Outlet, sendEvents } from './outlet.ts'
import type { ReadRequest } from './readRequest.ts'

type AllRead = Extract<ReadRequest, { kind: 'read_all' }>

/** After every possible position. */
const afterEverything = 9223372036854775807n

/** A forwards read includes its start position, a backwards read does not. */
export async function readAll(log: Log, outlet: Outlet, request: AllRead): Promise<void> {
  const matches = request.filter?.matches ?? ((event) => !isHidden(event.stream))
  let from = positionOf(request)
  let left = request.count
  while (left > 0n && !outlet.signal.aborted) {
    // With a filter, the page size does not depend on how many events are still wanted.
    const limit = request.filter ? pageRows : Math.min(pageRows, Number(left))
    const page = request.backwards ? await log.allBackwards(from, limit) : await log.allForwards(from, limit)
    const matching = page.events.filter(matches)
    const wanted = BigInt(matching.length) > left ? matching.slice(0, Number(left)) : matching
    await sendEvents(log, outlet, wanted, request)
    left -= BigInt(wanted.length)
    const last = page.events.at(-1)
    if (last === undefined || page.end) return
    from = request.backwards ? last.position : last.position + 1n
  }
}

function positionOf(request: AllRead): bigint {
  if (request.from === 'start') return 0n
  return request.from === 'end' ? afterEverything : request.from
}
