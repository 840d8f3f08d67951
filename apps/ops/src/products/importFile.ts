// The file that is imported, or standard input in its place.
import { type FileHandle, open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { addAbortSignal, type Readable } from 'node:stream'
import { OpsError } from '../command.ts'

export type ImportFile = {
  /** What reading it throws is an OpsError. It ends with an error when the signal aborts. */
  bytes(signal: AbortSignal): AsyncIterable<Buffer>
  /** In bytes; unknown of what is no regular file. */
  readonly size: number | undefined
  close(): void
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EACCES: 'may not be read by this user',
}

/**
 * @param path `-` for standard input
 * @param input what that is
 * @throws OpsError when it cannot be read
 */
export async function openImportFile(path: string, input: Readable): Promise<ImportFile> {
  if (path === '-') return fileOf('Standard input', input, undefined)
  const name = resolve(path)
  const handle = await open(name).catch((error: unknown) => throwReadError(name, error))
  const size = await sizeOf(name, handle)
  return fileOf(name, handle.createReadStream(), size)
}

async function sizeOf(name: string, handle: FileHandle): Promise<number | undefined> {
  const stats = await handle.stat()
  if (stats.isDirectory()) {
    await handle.close()
    throw new OpsError(`${name} is a directory`)
  }
  // Some that the system makes up as they are read say 0.
  return stats.isFile() && stats.size > 0 ? stats.size : undefined
}

function fileOf(name: string, stream: Readable, size: number | undefined): ImportFile {
  return {
    async *bytes(signal) {
      try {
        yield* addAbortSignal(signal, stream)
      } catch (error) {
        throwReadError(name, error)
      }
    },
    size,
    close: () => void stream.destroy(),
  }
}

function throwReadError(name: string, error: unknown): never {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const reason = reasons[code] ?? `cannot be read: ${error instanceof Error ? error.message : String(error)}`
  throw new OpsError(`${name} ${reason}`, { cause: error })
}
