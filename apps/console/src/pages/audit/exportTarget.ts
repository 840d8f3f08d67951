// Where an export is written: a file, or the memory of browsers that cannot write files.
import { downloadBlob } from '../../parts/download.ts'

export type ExportTarget = {
  readonly name: string
  readonly isInMemory: boolean
  write(bytes: Uint8Array): Promise<void>
  /** Offers what is in memory to the reader; a file is complete from now on. */
  finish(): Promise<void>
  /** A file stays as it was before. */
  discard(): Promise<void>
}

type FileTarget = {
  write(bytes: Uint8Array): Promise<void>
  close(): Promise<void>
  abort(): Promise<void>
}
type FilePicker = (options: {
  suggestedName: string
  types: { description: string; accept: Record<string, string[]> }[]
}) => Promise<{ readonly name: string; createWritable(): Promise<FileTarget> }>

const type = 'application/x-ndjson'

// Not in the types of the DOM, because only some browsers have it, and on secure origins only.
const filePicker = (): FilePicker | undefined => (globalThis as { showSaveFilePicker?: FilePicker }).showSaveFilePicker

export const canWriteFiles = (): boolean => filePicker() !== undefined

/** @returns undefined when the reader chose no file */
export async function openTarget(suggestedName: string): Promise<ExportTarget | undefined> {
  const pick = filePicker()
  if (pick === undefined) return memoryTarget(suggestedName)
  try {
    const handle = await pick({ suggestedName, types: [{ description: 'Events', accept: { [type]: ['.ndjson'] } }] })
    const file = await handle.createWritable()
    return {
      name: handle.name,
      isInMemory: false,
      write: (bytes) => file.write(bytes),
      finish: () => file.close(),
      discard: () => file.abort(),
    }
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return undefined
    throw error
  }
}

function memoryTarget(name: string): ExportTarget {
  let parts: BlobPart[] = []
  return {
    name,
    isInMemory: true,
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
