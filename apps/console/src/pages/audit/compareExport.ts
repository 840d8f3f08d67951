// Compares an export with its manifest and the log, as `ops streams verify-export` does.
import { isSame } from '@paylog/event-store/export/bytes'
import { type ExportedLine, type ExportSummary, readExport } from '@paylog/event-store/export/exportedLines'
import { lineInFormat } from '@paylog/event-store/export/lineFormat'
import type { Manifest } from '@paylog/event-store/export/manifest'
import { createOrder, type LogLine, pair } from '@paylog/event-store/export/pairing'
import { type FetchPage, logLines, presentHead } from './logPages.ts'
import { createSha256 } from './sha256.ts'

/** `line` is null for a missing event; `id` and `position` are null for a line that is no event. */
export type Finding = { readonly line: number | null; readonly id: string | null; readonly position: string | null }
export type FindingKind = 'changed' | 'missing' | 'additional' | 'misplaced'
type Findings = { readonly count: number; readonly first: readonly Finding[] }

export type Comparison = {
  readonly isEqual: boolean
  /** The fields in which the file is not the one that the manifest describes. */
  readonly manifest: readonly { readonly field: string; readonly manifest: string; readonly file: string }[]
  /** Why the manifest's part of the log does not fit this log, if so. */
  readonly extent: 'other_log' | 'nothing_covered' | null
  readonly found: Readonly<Record<FindingKind, Findings>>
  /** Lines that are about an event of the log. */
  readonly events: number
  /** Where the comparison ended, and where an export with these filters would end now. */
  readonly head: string | null
  readonly logEnd: string | null
}

export type CompareProgress = {
  readonly events: number
  readonly bytes: number
  readonly position: string | null
  readonly head: string | null
}

export type CompareOptions = {
  readonly manifest: Manifest
  readonly content: AsyncIterable<Uint8Array>
  readonly fetchPage: FetchPage
  readonly signal: AbortSignal
  readonly onProgress: (progress: CompareProgress) => void
}

/** The findings of each kind that are listed. The others are counted. */
export const maxListed = 20

/** @throws ApiError; errors of reading `content`; the reason of the signal */
export async function compareExport(options: CompareOptions): Promise<Comparison> {
  const { manifest, fetchPage, signal } = options
  const { filters } = manifest
  const logEnd = await presentHead({ fetchPage, filters, signal })
  const { head, extent } = extentOf(manifest, logEnd)
  const found = createFindings()
  const order = createOrder()
  let progress: CompareProgress = { events: 0, bytes: 0, position: null, head }
  const report = (news: Partial<CompareProgress>) => {
    progress = { ...progress, ...news }
    options.onProgress(progress)
  }
  async function* content(): AsyncGenerator<Uint8Array> {
    for await (const chunk of options.content) {
      signal.throwIfAborted()
      report({ bytes: progress.bytes + chunk.length })
      yield chunk
    }
  }
  const file = readExport(content(), createSha256())
  const reading = { fetchPage, filters, head: head ?? undefined, signal }
  const log =
    head === null
      ? nothing()
      : inFormat(
          manifest,
          logLines(reading, ({ next }) => report({ position: next ?? head })),
        )
  await pair(file.lines(signal), log, {
    async paired(line, expected) {
      progress = { ...progress, events: progress.events + 1 }
      notePair(found.add, { line, expected, isInOrder: order.isRight(line.number, expected.event.position.commit) })
    },
    missing: async ({ event }) => found.add('missing', { line: null, ...nameOf(event.id, event.position.commit) }),
    extra: async ({ number, id, position }) => found.add('additional', { line: number, ...nameOf(id, position) }),
  })
  signal.throwIfAborted()
  const differing = manifestDifferences(manifest, file.summary())
  const isEqual = differing.length === 0 && extent === null && found.isEmpty()
  return { isEqual, manifest: differing, extent, found: found.all, events: progress.events, head, logEnd }
}

/**
 * Where the comparison ends. With `until`, the end does not depend on the manifest, so that events of a cut export are
 * missing.
 */
function extentOf({ head, filters }: Manifest, logEnd: string | null): Pick<Comparison, 'head' | 'extent'> {
  if (head !== null && (logEnd === null || (filters.until === null && BigInt(logEnd) < BigInt(head))))
    return { head: logEnd, extent: 'other_log' }
  if (filters.until !== null) return { head: logEnd, extent: null }
  return { head, extent: head === null && logEnd !== null ? 'nothing_covered' : null }
}

/** The lines of the log as the export has them. */
async function* inFormat({ format }: Manifest, lines: AsyncGenerator<LogLine, void>): AsyncGenerator<LogLine, void> {
  for await (const line of lines) yield { ...line, bytes: lineInFormat(line.bytes, format) }
}

async function* nothing(): AsyncGenerator<LogLine, void> {}

const nameOf = (id: string | undefined, position: bigint | undefined) => ({
  id: id ?? null,
  position: position?.toString() ?? null,
})

function notePair(
  add: (kind: FindingKind, finding: Finding) => void,
  pairing: { readonly line: ExportedLine; readonly expected: LogLine; readonly isInOrder: boolean },
): void {
  const { line, expected, isInOrder } = pairing
  const finding = { line: line.number, ...nameOf(expected.event.id, expected.event.position.commit) }
  if (!isInOrder) add('misplaced', finding)
  if (line.bytes === null || !isSame(line.bytes, expected.bytes) || !line.isWhole) add('changed', finding)
}

function createFindings() {
  const lists: Record<FindingKind, Finding[]> = { changed: [], missing: [], additional: [], misplaced: [] }
  const all = {
    changed: { count: 0, first: lists.changed },
    missing: { count: 0, first: lists.missing },
    additional: { count: 0, first: lists.additional },
    misplaced: { count: 0, first: lists.misplaced },
  }
  return {
    all,
    add(kind: FindingKind, finding: Finding): void {
      all[kind].count++
      if (lists[kind].length < maxListed) lists[kind].push(finding)
    },
    isEmpty: () => Object.values(all).every(({ count }) => count === 0),
  }
}

function manifestDifferences(manifest: Manifest, summary: ExportSummary): Comparison['manifest'] {
  return (['bytes', 'count', 'first_position', 'last_position', 'sha256'] as const)
    .filter((field) => manifest[field] !== summary[field])
    .map((field) => ({
      field,
      manifest: String(manifest[field] ?? 'none'),
      file: String(summary[field] ?? 'none'),
    }))
}
