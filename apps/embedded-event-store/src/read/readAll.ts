// The whole log, forwards or backwards, filtered or not. Stream metadata truncates nothing here.
import { pageRows } from '../storage/logReader.ts'
import { isHidden } from './eventFilter.ts'
import type { Log } from './log.ts'
import { type Outlet, sendEvents } from './outlet.ts'
import type { ReadRequest } from './readRequest.ts'

type AllRead = Extract<ReadRequest, { kind: 'read_all' }>

/** Beyond every position of any log. */
const afterEverything = 9223372036854775807n

/** A read forwards includes the position it begins at, a read backwards does not. */
export async function readAll(log: Log, outlet: Outlet, request: AllRead): Promise<void> {
  const matches = request.filter?.matches ?? ((event) => !isHidden(event.stream))
  let from = positionOf(request)
  let left = request.count
  while (left > 0n && !outlet.signal.aborted) {
    // A filter may drop events of the page, so how many are still wanted says nothing about how many to read.
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
