// An export of the log page by page, wherever its pages come from. Runs in browsers too.
import type { ExportFilters } from './filters.ts'

/** Positions are decimal strings. */
export type ExportPageRequest = {
  readonly filters: ExportFilters
  /** The `next` of the page before; null for the first page. */
  readonly after: string | null
  /** The last position to read: the `head` of the first page. Null for the first page: where the export would end now. */
  readonly head: string | null
  /** Lines. */
  readonly limit: number
}

export type ExportPage = {
  /** Lines with their line feeds. May be empty although more follow. */
  readonly text: string
  /** Null when all events up to the head have been read. */
  readonly next: string | null
  /** Where the export ends; null when no event can belong to it. */
  readonly head: string | null
}

/** `readExportPage` on a log, or a request of GET /admin/events. */
export type FetchPage = (request: ExportPageRequest, signal: AbortSignal) => Promise<ExportPage>

export type ExportReading = {
  readonly fetchPage: FetchPage
  readonly filters: ExportFilters
  /** The last position to read, null to read nothing; by default where the export would end now. */
  readonly head?: string | null | undefined
  readonly signal: AbortSignal
}

/** The most that the API returns at once. */
const linesPerPage = 5_000

/** The next page is fetched while one is processed. @throws the errors of `fetchPage`, the reason of the signal */
export async function* exportPages(reading: ExportReading): AsyncGenerator<ExportPage, void> {
  const { fetchPage, filters, signal } = reading
  if (reading.head === null) return
  const fetchAfter = (after: string | null, head: string | null) =>
    fetchPage({ filters, after, head, limit: linesPerPage }, signal)
  let next = fetchAfter(null, reading.head ?? null)
  for (;;) {
    const page = await next
    signal.throwIfAborted()
    if (page.next !== null) {
      next = fetchAfter(page.next, page.head)
      // Not awaited when the caller stops here.
      next.catch(() => {})
    }
    yield page
    if (page.next === null) return
  }
}

/** Where an export with these filters would end now; null when it would have no events. */
export async function presentHead({ fetchPage, filters, signal }: Omit<ExportReading, 'head'>): Promise<string | null> {
  return (await fetchPage({ filters, after: null, head: null, limit: 1 }, signal)).head
}

/** The lines of all pages. @param onPage called after the lines of each page */
export async function* logLines(
  reading: ExportReading,
  onPage: (page: ExportPage) => void,
): AsyncGenerator<string, void> {
  for await (const page of exportPages(reading)) {
    yield* linesOf(page)
    onPage(page)
  }
}

/** Without line feeds. */
export const linesOf = ({ text }: ExportPage): string[] => text.split('\n').slice(0, -1)
