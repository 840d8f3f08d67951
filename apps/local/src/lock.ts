// One running system per data directory.
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { readRuntime } from '@paylog/runtime/process/runtimeFile'
import { StartError } from './startError.ts'

const sqliteBusy = 5

/**
 * Takes the directory for this process. The lock is an exclusive SQLite transaction that is never committed: the kernel
 * drops it when the process ends, however it ends, so that there is no stale lock to recognise and no race about one.
 *
 * @returns how to give the directory back
 * @throws StartError naming the system that holds it
 */
export function lockDirectory(directory: string): () => void {
  const database = open(directory)
  try {
    database.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    if (!(error instanceof Error && 'errcode' in error && error.errcode === sqliteBusy))
      throw unusable(directory, error)
    const other = readRuntime(directory)
    const who = other ? `pid ${other.pid}, ${other.base_url}` : 'it has only just begun to start'
    throw new StartError(
      `Paylog is already running on ${directory} (${who}). Stop it, or give this one a directory of its own with DATA_DIR.`,
    )
  }
  return () => database.close()
}

function open(directory: string): DatabaseSync {
  try {
    return new DatabaseSync(join(directory, 'lock'), { timeout: 0 })
  } catch (error) {
    throw unusable(directory, error)
  }
}

const unusable = (directory: string, error: unknown) =>
  new StartError(`DATA_DIR ${directory} cannot be locked: ${error instanceof Error ? error.message : error}.`)
