// Compares an export with its manifest and the log, up to the first difference. Runs in browsers too.
import { type Difference, type ExportedLine, lineDifference, manifestDifference, nameIn } from './difference.ts'
import { type ExportProgress, type Hash, positionIn } from './exportLog.ts'
import { type ExportPage, type FetchPage, logLines, presentHead } from './exportPages.ts'
import { readLines } from './lines.ts'
import type { Manifest } from './manifest.ts'

/** Events are up to 1 MiB on most servers and 16 MiB on any; base64 adds a third. */
const maxLineBytes = 64 << 20
/** The position is before it: it is far longer than any stream name. */
const beginningBytes = 16 << 10

export type CompareOptions = {
  readonly manifest: Manifest
  /** The chunks of the file. */
  readonly content: AsyncIterable<Uint8Array>
  readonly hash: Hash
  /** Undefined: the file is compared with its manifest only. */
  readonly fetchPage: FetchPage | undefined
  readonly signal: AbortSignal
  readonly onProgress: (progress: ExportProgress) => void
  /** Called for each line of the file, in order. */
  readonly onLine?: (line: ExportedLine) => void
}

export type Compared = {
  /** Lines that are those of the log, before the first difference. */
  readonly events: number
  /** That of a line, otherwise that of the manifest. */
  readonly difference: Difference | undefined
  /** Whether the file is the one that the manifest describes. */
  readonly isAsManifest: boolean
  /** Where an export with these filters would end now; undefined when the log was not read. */
  readonly logEnd: string | null | undefined
}

/**
 * Exports the same part of the log again and compares line by line. After the first difference, only the file is read on, for
 * its checksum.
 * @throws the errors of `content` and `fetchPage`; the reason of the signal
 */
export async function compareExport(options: CompareOptions): Promise<Compared> {
  const { manifest, fetchPage, signal, onProgress, onLine = () => {} } = options
  const { filters } = manifest
  const logEnd = fetchPage && (await presentHead({ fetchPage, filters, signal }))
  // With `until`, the end does not depend on the manifest, so that events of a cut export are missing.
  const head = filters.until === null ? manifest.head : (logEnd ?? null)
  let events = 0
  let difference = otherLog(head, logEnd)
  const file = readFile(options)
  const onPage = ({ next }: ExportPage) => onProgress({ events, bytes: file.bytes(), position: next ?? head, head })
  const log = fetchPage && logLines({ fetchPage, filters, head, signal }, onPage)
  let lines = 0
  for await (const line of file.lines()) {
    lines = line.number
    onLine(line)
    if (log === undefined || difference !== undefined) continue
    difference = lineDifference(line, (await log.next()).value ?? undefined)
    if (difference === undefined) events++
  }
  const rest = difference === undefined ? (await log?.next())?.value : undefined
  if (typeof rest === 'string') difference = { kind: 'file_ends', line: lines + 1, expected: nameIn(rest) }
  const changed = manifestDifference(manifest, { count: lines, ...file.sums() })
  return { events, difference: difference ?? changed, isAsManifest: changed === undefined, logEnd }
}

function readFile({ content, hash, signal }: CompareOptions) {
  let bytes = 0
  let first_position: string | null = null
  let last_position: string | null = null
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for await (const chunk of content) {
      hash.update(chunk)
      bytes += chunk.length
      yield chunk
    }
  }
  return {
    bytes: () => bytes,
    async *lines(): AsyncGenerator<ExportedLine, void> {
      let start = 0
      for await (const { number, bytes: line, end } of readLines(chunks(), { maxBytes: maxLineBytes, signal })) {
        const position = positionIn(utf8.decode(line?.subarray(0, beginningBytes)))
        first_position ??= position
        last_position = position ?? last_position
        yield { number, bytes: line, isWhole: end - start === (line?.length ?? -1) + 1 }
        start = end
      }
      signal.throwIfAborted()
    },
    /** After all lines. */
    sums: () => ({ first_position, last_position, bytes, sha256: hash.digest() }),
  }
}

const utf8 = new TextDecoder()

function otherLog(head: string | null, logEnd: string | null | undefined): Difference | undefined {
  if (head === null || logEnd === undefined) return undefined
  return logEnd === null || BigInt(logEnd) < BigInt(head) ? { kind: 'other_log', head, end: logEnd } : undefined
}

/** What a difference says of the file, the manifest and the log, in sentences. */
export function causeText({ difference, isAsManifest, logEnd }: Omit<Compared, 'events'>): string {
  if (isAsManifest && logEnd === undefined)
    return 'The file matches its manifest: both were changed, or the checkpoint was.'
  const cause = isAsManifest
    ? 'The file matches its manifest, so the log has changed since or is another one, or both files were changed.'
    : 'The file does not match its manifest.'
  const isFirst = difference?.kind === 'line' && difference.line === 1 && difference.found !== null
  if (!isFirst || difference.found.id === difference.expected?.id) return cause
  return `${cause} Already its first event is another one: it was exported from another log, or its start was changed.`
}
