// The data directory and what this room keeps in it.
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { makeDirectory } from '@paylog/runtime/process/makeDirectory'
import { readRuntime, replaceFile } from '@paylog/runtime/process/runtimeFile'
import { StartError } from './terminal.ts'

/**
 * Creates the directory where it is missing, for its owner alone.
 * @returns its absolute path
 * @throws StartError when this user cannot write there
 */
export function openDataDirectory(path: string): string {
  const directory = resolve(path)
  try {
    makeDirectory(join(directory, 'logs'), 0o700)
    return realpathSync(directory)
  } catch (error) {
    throw new StartError(`DATA_DIR ${directory} cannot be used: ${error instanceof Error ? error.message : error}.`)
  }
}

/** The secret that signs the sandbox's notifications. */
export const sandboxWebhookSecret = (directory: string) => keptSecret(join(directory, 'sandbox-webhook-secret'))

/** Who may use the embedded event store: the file, and what is in it, `user:password`. */
export function eventStoreCredentials(directory: string): { readonly file: string; readonly credentials: string } {
  const file = join(directory, 'event-store-credentials')
  return { file, credentials: keptSecret(file, 'paylog:') }
}

/** A random secret behind `prefix`, made once and kept for the next start, complete or not at all, for its owner alone. */
function keptSecret(file: string, prefix = ''): string {
  if (!existsSync(file)) replaceFile(file, prefix + randomBytes(32).toString('hex'))
  return readFileSync(file, 'utf8')
}

// One running system per data directory.

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
