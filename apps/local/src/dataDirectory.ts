// The data directory and what this room keeps in it.
import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
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

/** The secret that signs the sandbox's notifications: made once, kept for the next start. */
export function sandboxWebhookSecret(directory: string): string {
  const file = join(directory, 'sandbox-webhook-secret')
  try {
    writeFileSync(file, randomBytes(32).toString('hex'), { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
  return readFileSync(file, 'utf8')
}
