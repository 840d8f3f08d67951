// Compares an export with its manifest and the log. Runs in browsers too.
import { isSame } from './bytes.ts'
import { type ExportedLine, type ExportSummary, type Hash, readExport } from './exportedLines.ts'
import type { ExportProgress } from './exportLog.ts'
import { type FetchPage, logLines, presentHead } from './exportPages.ts'
import type { Manifest } from './manifest.ts'
import { type LogLine, pair } from './pairing.ts'

/** What is wrong with an export. */
export type Finding =
  /** The file is not the one that the manifest describes. */
  | {
      readonly kind: 'manifest'
      readonly field: keyof ExportSummary
      readonly manifest: string | null
      readonly file: string | null
    }
  /** `other_log`: the log ends before the part that the export covers. `nothing_covered`: the manifest describes an empty log. */
  | { readonly kind: 'other_log' | 'nothing_covered'; readonly head: string | null; readonly end: string | null }
  | { readonly kind: 'changed' | 'out_of_order'; readonly line: ExportedLine; readonly expected: LogLine }
  | { readonly kind: 'missing'; readonly expected: LogLine }
  /** The line has no event in this part of the log, or one that already has a line. */
  | { readonly kind: 'extra'; readonly line: ExportedLine }

export type CompareOptions = {
  readonly manifest: Manifest
  readonly content: AsyncIterable<Uint8Array>
  readonly hash: Hash
  readonly fetchPage: FetchPage
  readonly signal: AbortSignal
  readonly onProgress: (progress: ExportProgress) => void
  readonly onFinding: (finding: Finding) => Promise<void> | void
  /** Called for each line of the file, in order. */
  readonly onLine?: (line: ExportedLine) => void
}

export type Compared = {
  /** Lines that are about an event of the log. */
  readonly events: number
  /** Where the comparison ended, and where an export with these filters would end now. */
  readonly head: string | null
  readonly logEnd: string | null
  /** Whether the file is the one that the manifest describes. */
  readonly isAsManifest: boolean
}

/** @throws the errors of `content`, `fetchPage` and `onFinding`; the reason of the signal */
export async function compareExport(options: CompareOptions): Promise<Compared> {
  const { manifest, fetchPage, signal, onFinding, onLine = () => {} } = options
  const { filters } = manifest
  const logEnd = await presentHead({ fetchPage, filters, signal })
  const { head, problem } = extentOf(manifest, logEnd)
  if (problem !== undefined) await onFinding({ kind: problem, head: manifest.head, end: logEnd })
  let progress: ExportProgress = { events: 0, bytes: 0, position: null, head }
  const report = (news: Partial<ExportProgress>) => {
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
  const file = readExport(content(), options.hash)
  async function* lines(): AsyncGenerator<ExportedLine, void> {
    for await (const line of file.lines(signal)) {
      onLine(line)
      yield line
    }
  }
  const log = logLines({ fetchPage, filters, head, signal }, ({ next }) => report({ position: next ?? head }))
  await pair(lines(), log, {
    async paired(line, expected, isInOrder) {
      progress = { ...progress, events: progress.events + 1 }
      if (!isInOrder) await onFinding({ kind: 'out_of_order', line, expected })
      const isUnchanged = line.bytes !== null && isSame(line.bytes, expected.bytes) && line.isWhole
      if (!isUnchanged) await onFinding({ kind: 'changed', line, expected })
    },
    missing: async (expected) => onFinding({ kind: 'missing', expected }),
    extra: async (line) => onFinding({ kind: 'extra', line }),
  })
  const differing = summaryFindings(manifest, file.summary())
  for (const finding of differing) await onFinding(finding)
  return { events: progress.events, head, logEnd, isAsManifest: differing.length === 0 }
}

/**
 * Where the comparison ends. With `until`, the end does not depend on the manifest, so that events of a cut export are
 * missing.
 */
function extentOf(
  { head, filters }: Manifest,
  logEnd: string | null,
): { readonly head: string | null; readonly problem?: 'other_log' | 'nothing_covered' } {
  const isShort = logEnd === null || (filters.until === null && head !== null && BigInt(logEnd) < BigInt(head))
  if (head !== null && isShort) return { head: logEnd, problem: 'other_log' }
  if (filters.until !== null) return { head: logEnd }
  return head === null && logEnd !== null ? { head, problem: 'nothing_covered' } : { head }
}

/** The fields in which the file is not the one that the manifest describes. */
export function summaryFindings(manifest: Manifest, summary: ExportSummary): Extract<Finding, { kind: 'manifest' }>[] {
  return (['count', 'first_position', 'last_position', 'bytes', 'sha256'] as const)
    .filter((field) => manifest[field] !== summary[field])
    .map((field) => ({ kind: 'manifest', field, manifest: asText(manifest[field]), file: asText(summary[field]) }))
}

const asText = (value: string | number | null) => (value === null ? null : String(value))
