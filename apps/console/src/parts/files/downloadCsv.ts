// A list as a CSV file, as the API sends it: all rows of the filter, streamed.
import { PaylogError } from '@paylog/client/errors'
import { fetchInSession } from '../../api/api.ts'
import { type CsvList, csvPath } from './csvPath.ts'
import { type FileTarget, memoryTarget, openTarget } from './fileTarget.ts'

export type SavedCsv = { readonly name: string; readonly rows: number }

const csvFile = { type: 'text/csv', extension: '.csv', description: 'Table' } as const
/**
 * Saves the list as a file. Where the connection breaks off, there is none.
 * @param list `isLarge`: whether it may be too much for the memory of the browser
 * @param run `onProgress` is called with the bytes so far
 * @returns undefined when the reader chose no file
 * @throws PaylogError for a response that is no file, Error when the connection breaks off
 */
export async function downloadCsv(
  list: CsvList & { readonly isLarge: boolean },
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: (bytes: number) => void },
): Promise<SavedCsv | undefined> {
  const path = csvPath(list)
  const chosen = list.isLarge ? await openTarget(`${nameOf(path)}.csv`, csvFile) : undefined
  if (list.isLarge && chosen === undefined) return undefined
  try {
    const response = await requestCsv(path, signal)
    const target = chosen ?? memoryTarget(sentName(response) ?? `${nameOf(path)}.csv`, csvFile.type)
    await copy(response, target, onProgress)
    signal.throwIfAborted()
    await target.finish()
    return { name: target.name, rows: Number(response.headers.get('x-row-count')) }
  } catch (error) {
    await chosen?.discard().catch(() => undefined)
    throw error
  }
}

async function requestCsv(path: string, signal: AbortSignal): Promise<Response> {
  const request = new Request(new URL(path, location.origin), { headers: { accept: csvFile.type }, signal })
  const response = await fetchInSession(request)
  if (!response.ok) throw new PaylogError(response, await response.json().catch(() => null))
  if (!response.headers.get('content-type')?.startsWith(csvFile.type)) throw new PaylogError(response, null)
  return response
}

/** The body of a response that breaks off throws, so that a part of a file never counts as the whole. */
async function copy(response: Response, target: FileTarget, onProgress: (bytes: number) => void): Promise<void> {
  const reader = response.body?.getReader()
  let bytes = 0
  for (;;) {
    const chunk = await reader?.read().catch((cause: unknown) => {
      throw new Error('The download broke off', { cause })
    })
    if (chunk?.value === undefined) return
    await target.write(chunk.value)
    bytes += chunk.value.length
    onProgress(bytes)
  }
}

const nameOf = (path: string) => /\/([\w-]+)\?/.exec(path)?.[1] ?? 'list'

const sentName = (response: Response) =>
  /filename="([\w.-]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1]
