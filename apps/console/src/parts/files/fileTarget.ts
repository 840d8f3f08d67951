// Where a long download is written: a file, or the memory of browsers that cannot write files.
import { downloadBlob } from './download.ts'

export type FileTarget = {
  readonly name: string
  write(bytes: Uint8Array): Promise<void>
  /** Offers what is in memory to the reader; a file is complete from now on. */
  finish(): Promise<void>
  /** A file stays as it was before. */
  discard(): Promise<void>
}

type WritableFile = {
  write(bytes: Uint8Array): Promise<void>
  close(): Promise<void>
  abort(): Promise<void>
}
type FilePicker = (options: {
  suggestedName: string
  types: { description: string; accept: Record<string, string[]> }[]
}) => Promise<{ readonly name: string; createWritable(): Promise<WritableFile> }>

/** The type, and what the browser calls it in its dialog. */
export type FileType = { readonly type: string; readonly extension: `.${string}`; readonly description: string }

// Not in the types of the DOM, because only some browsers have it, and on secure origins only.
const filePicker = (): FilePicker | undefined => (globalThis as { showSaveFilePicker?: FilePicker }).showSaveFilePicker

export const canWriteFiles = (): boolean => filePicker() !== undefined

/**
 * Lets the reader choose a file, where the browser can write into one. Call it in the handler of a click.
 * @returns undefined when the reader chose no file
 */
export async function openTarget(
  suggestedName: string,
  { type, extension, description }: FileType,
): Promise<FileTarget | undefined> {
  const pick = filePicker()
  if (pick === undefined) return memoryTarget(suggestedName, type)
  try {
    const handle = await pick({ suggestedName, types: [{ description, accept: { [type]: [extension] } }] })
    const file = await handle.createWritable()
    return {
      name: handle.name,
      write: (bytes) => file.write(bytes),
      finish: () => file.close(),
      discard: () => file.abort(),
    }
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return undefined
    throw error
  }
}

/** Offered to the reader when it is finished. */
export function memoryTarget(name: string, type: string): FileTarget {
  let parts: BlobPart[] = []
  return {
    name,
    async write(bytes) {
      parts.push(new Blob([new Uint8Array(bytes)]))
    },
    async finish() {
      downloadBlob(name, new Blob(parts, { type }))
      parts = []
    },
    async discard() {
      parts = []
    },
  }
}
