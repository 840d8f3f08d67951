import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Creates a directory and its missing parents. Node's `recursive` option never returns where the system rejects new
 * directories with ENOENT (`/proc`).
 * @throws the system's error
 */
export function makeDirectory(path: string, mode: number): void {
  const missing: string[] = []
  for (let place = path; !existsSync(place); place = dirname(place)) missing.unshift(place)
  for (const place of missing) {
    try {
      mkdirSync(place, { mode })
    } catch (error) {
      // Another process may have created it meanwhile.
      if (!statSync(place, { throwIfNoEntry: false })?.isDirectory()) throw error
    }
  }
}
