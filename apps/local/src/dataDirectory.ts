// The data directory: creation, lock, and the secrets kept in it.
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { newSigningKey, parseSigningKey, parseVerifierKey } from '@paylog/audit-log/note'
import { makeDirectory } from '@paylog/runtime/process/makeDirectory'
import { readRuntime, replaceFile } from '@paylog/runtime/process/runtimeFile'
import { StartError } from './terminal.ts'

const sqliteBusy = 5

/**
 * Creates the directory if it is missing, readable by its owner only.
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

/** Signs the notifications of the sandbox provider. */
export const sandboxWebhookSecret = (directory: string) => keptSecret(join(directory, 'sandbox-webhook-secret'))

/** Credentials of the embedded event store: the file, and its content `user:password`. */
export function eventStoreCredentials(directory: string): { readonly file: string; readonly credentials: string } {
  const file = join(directory, 'event-store-credentials')
  return { file, credentials: keptSecret(file, 'paylog:') }
}

const verifierFile = 'audit-verifier-key'
/** Files of a data directory whose log has been signed, or may have been. */
const signedTraces = [verifierFile, 'audit-state', 'checkpoints', join('postgres', 'cluster')]

/**
 * The file of the key that signs checkpoints of the log, and the keys that verified them before it. The key that verifies
 * them is beside it. Both are made at the first start.
 * @throws StartError when the key is missing beside a log: a new one would begin another history without a word
 */
export function auditSigningKey(directory: string): {
  readonly file: string
  readonly formerVerifierKeys: readonly string[]
} {
  const file = join(directory, 'audit-signing-key')
  if (!existsSync(file)) {
    if (signedTraces.some((name) => existsSync(join(directory, name)))) throw new StartError(missingKey(file))
    replaceFile(file, `${newSigningKey(`localhost/paylog-${randomBytes(4).toString('hex')}`).signingKey}\n`)
  }
  keepVerifierKey(directory, file)
  const former = readdirSync(directory).filter((name) => name.startsWith(`${verifierFile}-`))
  return { file, formerVerifierKeys: former.map((name) => readFileSync(join(directory, name), 'utf8').trim()) }
}

const missingKey = (file: string) =>
  `${file} is missing, and it signs the log in this directory. Restore it from a backup. If it is lost, make another one with ` +
  '`npm run -s ops -- audit key --new NAME`, store its signing key in this file, start, and begin again with ' +
  '`npm run -s ops -- audit restart --reason TEXT`.'

/** Another signing key has another verifier key; the former one still verifies what it has signed. */
function keepVerifierKey(directory: string, signingKeyFile: string): void {
  const file = join(directory, verifierFile)
  const { verifierKey } = parsedKey(signingKeyFile)
  const kept = existsSync(file) ? readFileSync(file, 'utf8').trim() : verifierKey
  if (kept !== verifierKey) replaceFile(`${file}-${parseVerifierKey(kept).id.toString('hex')}`, `${kept}\n`)
  if (kept !== verifierKey || !existsSync(file)) replaceFile(file, `${verifierKey}\n`)
}

function parsedKey(file: string) {
  try {
    return parseSigningKey(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new StartError(`${file} has no signing key: ${error instanceof Error ? error.message : error}.`)
  }
}

/** The file of the master key, which wraps the keys of personal data. */
export function piiMasterKeyFile(directory: string): string {
  const file = join(directory, 'pii-master-key')
  keptText(file, () => randomBytes(32).toString('base64'))
  return file
}

/** Random secret after `prefix`. */
const keptSecret = (file: string, prefix = '') => keptText(file, () => prefix + randomBytes(32).toString('hex'))

/** Created once, atomically and for the owner only, and reused at the next start. */
function keptText(file: string, make: () => string): string {
  if (!existsSync(file)) replaceFile(file, make())
  return readFileSync(file, 'utf8')
}

/**
 * Locks the directory for this process. The lock is an exclusive SQLite transaction that is never committed. The kernel
 * releases it however the process ends, so there is no stale lock to detect.
 * @returns a function that unlocks the directory
 * @throws StartError naming the system that holds the lock
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
    const who = other ? `pid ${other.pid}, ${other.base_url}` : 'it is still starting'
    throw new StartError(
      `Paylog is already running on ${directory} (${who}). Stop it, or choose another directory with DATA_DIR.`,
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
