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

/** SHA-256, such as Node's `createHash('sha256')`. */
type Hash = { update(bytes: Uint8Array): unknown; digest(): string }

/**
 * @param content the chunks of the file, read once
 * @param hash `digest` returns the SHA-256 in hex of what was added
 */
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
        const { id, position } = identify(line.bytes)
        first ??= position
        last = position ?? last
        yield {
          number: line.number,
          bytes: line.bytes,
          isWhole: length === (line.bytes?.length ?? -1) + 1,
          id,
          position,
        }
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

/** Matches the start of a line, whose fields have a fixed order: enough to identify it even when the rest is broken. */
const beginning = /^\{"id":"([^"]*)","stream":"(?:[^"\\]|\\.)*","revision":"[^"]*","position":"(\d{1,20})"/
const anyId = /"id":"([0-9a-fA-F-]{36})"/
const anyPosition = /"position":"(\d{1,20})"/
/** Far longer than any stream name. */
const beginningBytes = 16 << 10

const utf8 = new TextDecoder()

/** The id and position of the event in a line, as far as they can be parsed. */
export function identify(bytes: Uint8Array | null): { id: string | undefined; position: bigint | undefined } {
  const text = bytes === null ? '' : utf8.decode(bytes.subarray(0, beginningBytes))
  const [, id, position] = beginning.exec(text) ?? []
  if (id !== undefined && position !== undefined) return { id, position: BigInt(position) }
  const found = anyPosition.exec(text)?.[1]
  return { id: anyId.exec(text)?.[1], position: found === undefined ? undefined : BigInt(found) }
}
