// The log, page by page, as GET /admin/events serves it.
import { identify } from '@paylog/event-store/export/exportedLines'
import { readLines } from '@paylog/event-store/export/lines'
import type { Manifest } from '@paylog/event-store/export/manifest'
import type { LogLine } from '@paylog/event-store/export/pairing'
import type { EventsQuery } from '../../api/apiTypes.ts'

export type LogPage = {
  readonly bytes: Uint8Array
  /** The `after` of the next page; null on the last one. */
  readonly next: string | null
  /** The end of the selected part of the log; null when no event can belong to it. */
  readonly head: string | null
}

/** Sends one request. @throws ApiError; the reason of the signal */
export type FetchPage = (query: EventsQuery, signal: AbortSignal) => Promise<LogPage>

export type LogReading = {
  readonly fetchPage: FetchPage
  readonly filters: Manifest['filters']
  /** The last position to read; the present end of the selected part when undefined. */
  readonly head?: string | undefined
  readonly signal: AbortSignal
}

/** The most that the API returns at once. */
const linesPerPage = 5_000

export async function* logPages({ fetchPage, filters, head, signal }: LogReading): AsyncGenerator<LogPage> {
  let query: EventsQuery = { ...queryOf(filters), ...(head !== undefined && { head }), limit: linesPerPage }
  for (;;) {
    const page = await fetchPage(query, signal)
    yield page
    if (page.next === null) return
    query = { ...query, after: page.next, ...(page.head !== null && { head: page.head }) }
  }
}

/** Where an export with these filters would end now; null when it would have no events. */
export async function presentHead({ fetchPage, filters, signal }: Omit<LogReading, 'head'>): Promise<string | null> {
  return (await fetchPage({ ...queryOf(filters), limit: 1 }, signal)).head
}

/** The lines of all pages, each with the event that it is about. */
export async function* logLines(reading: LogReading, onPage: (page: LogPage) => void): AsyncGenerator<LogLine, void> {
  for await (const page of logPages(reading)) {
    onPage(page)
    const options = { maxBytes: Number.POSITIVE_INFINITY, signal: reading.signal }
    for await (const { bytes } of readLines(once(page.bytes), options)) {
      const { id, position } = identify(bytes)
      if (bytes === null || id === undefined || position === undefined) throw new Error('The API sent an unknown line')
      yield { event: { id, position: { commit: position, prepare: position } }, bytes }
    }
    reading.signal.throwIfAborted()
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

function queryOf({ category, stream, type, since, until }: Manifest['filters']): EventsQuery {
  return {
    ...(category !== null && { category }),
    ...(stream !== null && { stream }),
    ...(type !== null && { type }),
    ...(since !== null && { since }),
    ...(until !== null && { until }),
  }
}
