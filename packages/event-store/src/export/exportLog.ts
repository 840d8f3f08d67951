// Makes an export of the log. Runs in browsers too.
import { type ExportReading, exportPages, linesOf } from './exportPages.ts'
import { createManifest, type Manifest, type ManifestCheckpoint } from './manifest.ts'

/** Positions are decimal strings; null before the first page. */
export type ExportProgress = {
  readonly events: number
  readonly bytes: number
  readonly position: string | null
  readonly head: string | null
}

/** SHA-256. `digest` returns it in hex, once, of everything that was added. */
export type Hash = { update(bytes: Uint8Array): void; digest(): string }

/** The position of the event in a line, as far as it can be parsed, also when the rest is broken. */
export const positionIn = (line = ''): string | null =>
  // The first match is the event's own: only id, stream and revision precede, and quotes inside a name are escaped.
  /"position":"(\d{1,20})"/.exec(line)?.[1] ?? null

const utf8 = new TextEncoder()

/**
 * Reads the selected events and passes their bytes to `write`, which may take its time.
 * @param options `findCheckpoint` is called once, at the end
 * @returns the manifest of what was written
 * @throws the errors of `fetchPage` and `write`, the reason of the signal
 */
export async function exportLog(
  reading: ExportReading,
  options: {
    readonly hash: Hash
    readonly write: (bytes: Uint8Array) => Promise<void>
    readonly onProgress: (progress: ExportProgress) => void
    readonly findCheckpoint: (lastPosition: string, count: number) => Promise<ManifestCheckpoint | null>
  },
): Promise<Manifest> {
  const { hash, write, onProgress, findCheckpoint } = options
  let progress: ExportProgress = { events: 0, bytes: 0, position: null, head: null }
  let first_position: string | null = null
  let last_position: string | null = null
  for await (const page of exportPages(reading)) {
    const lines = linesOf(page)
    // Every line is valid UTF-8, so these are the bytes of the page.
    const bytes = utf8.encode(page.text)
    hash.update(bytes)
    await write(bytes)
    first_position ??= positionIn(lines[0])
    last_position = positionIn(lines.at(-1)) ?? last_position
    progress = {
      events: progress.events + lines.length,
      bytes: progress.bytes + bytes.length,
      position: page.next ?? page.head,
      head: page.head,
    }
    onProgress(progress)
  }
  const { events: count, bytes, head } = progress
  return createManifest({
    filters: reading.filters,
    head,
    count,
    first_position,
    last_position,
    bytes,
    sha256: hash.digest(),
    checkpoint: last_position === null ? null : await findCheckpoint(last_position, count),
  })
}
