// The logs of all processes of a campaign, read as they grow.
import { open, readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'

/** @returns the complete lines that a process wrote since the last call, by its name */
export type ReadLogs = () => Promise<Map<string, readonly string[]>>

export function followLogs(directory: string): ReadLogs {
  const read = new Map<string, number>()
  return async () => {
    const news = new Map<string, readonly string[]>()
    for (const file of (await readdir(directory)).filter((name) => name.endsWith('.log'))) {
      const from = read.get(file) ?? 0
      const handle = await open(join(directory, file))
      const { size } = await handle.stat()
      const { buffer } = await handle.read(Buffer.alloc(size - from), 0, size - from, from)
      await handle.close()
      const end = buffer.lastIndexOf('\n') + 1
      read.set(file, from + end)
      news.set(basename(file, '.log'), buffer.toString('utf8', 0, end).split('\n').filter(Boolean))
    }
    return news
  }
}
