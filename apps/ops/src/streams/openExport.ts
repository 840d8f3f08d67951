// Reads an exported file from the disk.
import { createHash } from 'node:crypto'
import { closeSync, createReadStream, openSync } from 'node:fs'
import { type ExportedFile, readExport } from '@paylog/event-store/export/exportedLines'
import { OpsError } from '../command.ts'

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

/** Its lines are read once. @throws OpsError, from `lines`, when it cannot be read */
export function openExport(path: string): ExportedFile {
  const hash = createHash('sha256')
  return readExport(chunksOf(path), {
    update: (bytes) => hash.update(bytes),
    digest: () => hash.copy().digest('hex'),
  })
}

async function* chunksOf(path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(path, { highWaterMark: 1 << 20 })
  } catch (error) {
    throw cannotBeRead(path, error)
  }
}
