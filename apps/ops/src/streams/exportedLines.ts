// Reads the lines of an exported file and computes its summary.
import { createHash } from 'node:crypto'
import { closeSync, createReadStream, openSync, type ReadStream } from 'node:fs'
import { OpsError } from '../command.ts'
import { readLines } from '../products/lines.ts'
import type { Manifest } from './exportManifest.ts'

/** Events are up to 1 MiB on most servers and 16 MiB on any; base64 adds a third. */
const maxLineBytes = 64 << 20

export type ExportedLine = {
  /** From 1. */
  readonly number: number
  /** `null` for a line that is longer than any event. */
  readonly bytes: Buffer | null
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

const cannotBeRead = (path: string, error: unknown) =>
  new OpsError(`${path} cannot be read: ${error instanceof Error ? error.message : error}`, { cause: error })

/** @throws OpsError for a file that cannot be read */
export function requireReadable(path: string): void {
  try {
    closeSync(openSync(path, 'r'))
  } catch (error) {
    throw cannotBeRead(path, error)
  }
}

export function openExport(path: string): ExportedFile {
  const hash = createHash('sha256')
  let bytes = 0
  let count = 0
  let first: bigint | undefined
  let last: bigint | undefined

  async function* chunks(): AsyncGenerator<Buffer> {
    const file: ReadStream = createReadStream(path, { highWaterMark: 1 << 20 })
    try {
      for await (const chunk of file) {
        const piece: Buffer = chunk
        hash.update(piece)
        bytes += piece.length
        yield piece
      }
    } catch (error) {
      throw cannotBeRead(path, error)
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
      sha256: hash.copy().digest('hex'),
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

function identify(bytes: Buffer | null): { id: string | undefined; position: bigint | undefined } {
  const text = bytes?.subarray(0, beginningBytes).toString() ?? ''
  const [, id, position] = beginning.exec(text) ?? []
  if (id !== undefined && position !== undefined) return { id, position: BigInt(position) }
  const found = anyPosition.exec(text)?.[1]
  return { id: anyId.exec(text)?.[1], position: found === undefined ? undefined : BigInt(found) }
}
