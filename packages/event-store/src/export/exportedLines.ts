// Reads the lines of an exported file and computes its summary. Runs in browsers too.
import { readLines } from './lines.ts'
import type { Manifest } from './manifest.ts'

/** Events are up to 1 MiB on most servers and 16 MiB on any; base64 adds a third. */
const maxLineBytes = 64 << 20

export type ExportedLine = {
  /** From 1. */
  readonly number: number
  /** `null` for a line that is longer than any event. */
  readonly bytes: Uint8Array | null
  /** Whether it ends with a single line feed. */
  readonly isWhole: boolean
  /** As far as they can be parsed. */
  readonly id: string | undefined
  readonly position: bigint | undefined
}

export type ExportSummary = Pick<Manifest, 'bytes' | 'sha256' | 'count' | 'first_position' | 'last_position'>

export type ExportedFile = {
  lines(signal: AbortSignal): AsyncGenerator<ExportedLine, void>
  /** The summary for a manifest, after all lines were read. */
  summary(): ExportSummary
}

/** SHA-256. `digest` returns it in hex, once, of everything that was added. */
export type Hash = { update(bytes: Uint8Array): void; digest(): string }

/** @param content the chunks of the file, read once */
export function readExport(content: AsyncIterable<Uint8Array>, hash: Hash): ExportedFile {
  let bytes = 0
  let count = 0
  let first: bigint | undefined
  let last: bigint | undefined

  async function* chunks(): AsyncGenerator<Uint8Array> {
    for await (const chunk of content) {
      hash.update(chunk)
      bytes += chunk.length
      yield chunk
    }
  }
  return {
    async *lines(signal) {
      let end = 0
      for await (const line of readLines(chunks(), { maxBytes: maxLineBytes, signal })) {
        const length = line.end - end
        end = line.end
        count++
        const place = placeOf(utf8.decode(line.bytes?.subarray(0, beginningBytes)))
        first ??= place.position
        last = place.position ?? last
        const isWhole = length === (line.bytes?.length ?? -1) + 1
        yield { number: line.number, bytes: line.bytes, isWhole, ...place }
      }
      signal.throwIfAborted()
    },
    summary: () => ({
      bytes,
      sha256: hash.digest(),
      count,
      first_position: first?.toString() ?? null,
      last_position: last?.toString() ?? null,
    }),
  }
}

const utf8 = new TextDecoder()
/** Id and position are before it: it is far longer than any stream name. */
const beginningBytes = 16 << 10

/** The id and position of the event in a line, as far as they can be parsed, also when the rest is broken. */
export function placeOf(line = ''): Pick<ExportedLine, 'id' | 'position'> {
  // The first match of each is the event's own: only stream and revision precede, and quotes inside a name are escaped.
  const position = /"position":"(\d{1,20})"/.exec(line)?.[1]
  return { id: /"id":"([^"]*)"/.exec(line)?.[1], position: position === undefined ? undefined : BigInt(position) }
}
