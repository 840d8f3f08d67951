// Reads raw events page by page, so that every call is bounded in time and memory.
import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import { isAfter, type LogPosition } from '@paylog/domain/events'
import { type Attempt, type CallContext, call } from '../connection/calls.ts'
import { ResponseTimeoutError } from '../connection/errors.ts'
import { type RawEvent, toRawEvent } from './rawEvent.ts'
import { type LogFilter, logRead, passes } from './requests.ts'

/** A page ends early at this size; two pages of a log are in memory. */
const pageBytes = 8 << 20
const defaultPageEvents = 2_000

export type RawPage = {
  readonly events: readonly RawEvent[]
  /** Whether the log, or the stream, has no more events. */
  readonly isLast: boolean
  /** Whether the page ended because the server sent nothing for a while: it scans events that do not match. */
  readonly isSilent?: boolean
}

/** @throws the context's failure */
export function readPage(context: CallContext, request: ReadReq): Promise<RawPage> {
  return call(context, collectPage(context, request))
}

/** One attempt of `readPage`, for callers that handle errors of the server themselves. */
export function collectPage({ timeoutMs, closing }: CallContext, request: ReadReq): Attempt<RawPage> {
  const count = Number(request.getOptions()?.getCount())
  const isFiltered = request.getOptions()?.hasFilter() ?? false
  return (stub, args, firstMs) =>
    new Promise((resolve, reject) => {
      const events: RawEvent[] = []
      let bytes = 0
      const reading = stub.read(request, ...args)
      const settle = (settled: () => void) => {
        clearTimeout(timer)
        closing.removeEventListener('abort', close)
        settled()
        // The promise is settled, so the error of the cancelled call is ignored.
        reading.cancel()
      }
      const silence = () =>
        settle(() => {
          if (isFiltered) resolve({ events, isLast: false, isSilent: true })
          else reject(new ResponseTimeoutError('Read of the log', timeoutMs))
        })
      // Not the reason itself: the client takes any error with a code for one of gRPC's.
      const close = () => settle(() => reject(new Error('The read was stopped', { cause: closing.reason })))
      // While a filter finds nothing, a healthy server sends nothing either.
      let timer = setTimeout(silence, isFiltered ? timeoutMs : Math.min(timeoutMs, firstMs))
      closing.addEventListener('abort', close)
      if (closing.aborted) close()
      reading.on('error', (error) => settle(() => reject(error)))
      reading.on('end', () => settle(() => resolve({ events, isLast: events.length < count })))
      reading.on('data', (reply: ReadResp) => {
        const recorded = reply.getEvent()?.getEvent()
        if (recorded === undefined) return
        if (events.length > 0) timer.refresh()
        else {
          clearTimeout(timer)
          timer = setTimeout(silence, timeoutMs)
        }
        const event = toRawEvent(recorded)
        events.push(event)
        bytes += event.data.length + event.metadata.length
        // The first event may be the last one of the previous page, so a page needs at least two.
        if (bytes >= pageBytes && events.length > 1) settle(() => resolve({ events, isLast: false }))
      })
    })
}

/** A page of the log. Only the last one may have no events, and one of which none pass the filter. */
export type LogPage = RawPage & {
  /** The last event that was read, whether it passed the filter or not. */
  readonly last: RawEvent | undefined
  /** How many events were read, whether they passed the filter or not. */
  readonly read: number
}

export type PagesRange = {
  /** Exclusive start. */
  readonly after?: LogPosition | undefined
  readonly filter?: LogFilter | undefined
  /** Events per page. */
  readonly maxEvents?: number
}

/**
 * The events of the log in order, system events included, up to the end that the log has when the last page is read. The
 * next page is read while one is processed.
 * @throws the context's failure
 */
export async function* readPages(context: CallContext, range: PagesRange = {}): AsyncGenerator<LogPage, void> {
  const { after, filter, maxEvents = defaultPageEvents } = range
  const read = createPageReader(context, filter)
  let next = read(after, maxEvents)
  for (;;) {
    const page = await next
    if (!page.isLast) {
      next = read(page.last?.position, maxEvents)
      // Not awaited when the caller stops here.
      next.catch(() => {})
    }
    yield page
    if (page.isLast) return
  }
}

/**
 * The server filters. While it finds nothing, it sends nothing, which looks like a lost connection, and an interrupted call
 * starts from the same position again. So after such a silence the rest is read unfiltered, and filtered here.
 * @returns a function that reads the page after a position. Its errors are the context's failure
 */
export function createPageReader(
  context: CallContext,
  filter: LogFilter | undefined,
): (after: LogPosition | undefined, maxEvents: number) => Promise<LogPage> {
  let serverFilter = filter === 'own' ? undefined : filter
  return async (after, maxEvents) => {
    for (;;) {
      // One event more, because a read starts with the event at its position.
      const count = after === undefined ? maxEvents : maxEvents + 1
      const page = await readPage(context, logRead(after ?? 'start', count, { filter: serverFilter }))
      const read = after === undefined ? page.events : page.events.filter(({ position }) => isAfter(position, after))
      if (page.isSilent) serverFilter = undefined
      else if (read.length === 0 && !page.isLast) throw noProgress(context, after)
      if (read.length > 0 || page.isLast)
        return { ...page, events: read.filter((event) => passes(filter, event)), last: read.at(-1), read: read.length }
    }
  }
}

/** Like `readPages`, event by event. */
export async function* readEvents(context: CallContext, range?: PagesRange): AsyncGenerator<RawEvent, void> {
  for await (const { events } of readPages(context, range)) yield* events
}

/** A page without new events that is not the last one: the rest of the log would stay unread. */
function noProgress({ failure }: CallContext, from: LogPosition | undefined): Error {
  const place = from === undefined ? 'its start' : `position ${from.commit}`
  return failure(new Error(`no events were returned after ${place}, so the rest of the log cannot be read`))
}

/** All events of the log before a position (its end by default) in reverse order, system events included. */
export async function* readPagesBackwards(
  context: CallContext,
  position?: LogPosition,
  maxEvents = defaultPageEvents,
): AsyncGenerator<readonly RawEvent[], void> {
  for (let before = position; ; ) {
    const { events, isLast } = await readPage(context, logRead(before ?? 'end', maxEvents, { backwards: true }))
    yield events
    before = events.at(-1)?.position
    if (isLast || before === undefined) return
  }
}
