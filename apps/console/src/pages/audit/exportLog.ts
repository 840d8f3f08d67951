// Makes an export of the log, as `ops streams export` does.
import { readExport } from '@paylog/event-store/export/exportedLines'
import { createManifest, type Manifest, type ManifestCheckpoint } from '@paylog/event-store/export/manifest'
import { type LogReading, logPages } from './logPages.ts'
import { createSha256 } from './sha256.ts'

export type ExportProgress = {
  readonly events: number
  readonly bytes: number
  /** Null before the first page. */
  readonly position: string | null
  readonly head: string | null
}

/**
 * Reads the selected events and passes their bytes to `write`, which may take its time.
 * @param options `findCheckpoint` is asked once, at the end
 * @returns the manifest of what was written
 * @throws ApiError; errors of `write`; the reason of the signal
 */
export async function exportLog(
  reading: LogReading,
  options: {
    readonly write: (bytes: Uint8Array) => Promise<void>
    readonly onProgress: (progress: ExportProgress) => void
    readonly findCheckpoint: (lastPosition: string, count: number) => Promise<ManifestCheckpoint | null>
  },
): Promise<Manifest> {
  let progress: ExportProgress = { events: 0, bytes: 0, position: null, head: null }
  async function* written(): AsyncGenerator<Uint8Array> {
    for await (const { bytes, next, head } of logPages(reading)) {
      if (bytes.length > 0) {
        await options.write(bytes)
        yield bytes
      }
      progress = { ...progress, bytes: progress.bytes + bytes.length, position: next ?? head, head }
      options.onProgress(progress)
    }
  }
  const file = readExport(written(), createSha256())
  for await (const { number } of file.lines(reading.signal)) progress = { ...progress, events: number }
  const { count, first_position, last_position, bytes, sha256 } = file.summary()
  // In the order in which `ops streams export` writes them.
  const facts = { head: progress.head, count, first_position, last_position, bytes, sha256 }
  const checkpoint = last_position === null ? null : await options.findCheckpoint(last_position, count)
  return createManifest(reading.filters, { ...facts, checkpoint })
}
