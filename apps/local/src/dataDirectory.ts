// The data directory and what this room keeps in it.
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { replaceFile } from '@paylog/runtime/process/runtimeFile'
import { StartError } from './startError.ts'

/**
 * Creates the directory where it is missing, for its owner alone.
 * @returns its absolute path
 * @throws StartError when this user cannot write there
 */
export function openDataDirectory(path: string): string {
  const directory = resolve(path)
  try {
    mkdirSync(join(directory, 'logs'), { recursive: true, mode: 0o700 })
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
