// The files that commands read and write.
import { readFileSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { messageOf, OpsError } from './command.ts'

/**
 * Writes a file that only its owner can read.
 * @param options `replaces`: whether `--force` is given, if the command has it
 * @throws OpsError
 */
export async function writeNewFile(
  path: string,
  content: string,
  { replaces }: { readonly replaces?: boolean } = {},
): Promise<void> {
  const file = await writing(path, open(path, replaces ? 'w' : 'wx', 0o600), replaces !== undefined)
  try {
    await file.writeFile(content)
    await file.sync()
  } catch (error) {
    await rm(path, { force: true })
    throw error
  } finally {
    await file.close()
  }
}

/** @throws OpsError in the place of the errors of `work` @param hasForce whether the command has `--force` */
export const writing = <Result>(path: string, work: Promise<Result>, hasForce = true) =>
  work.catch((error: unknown) => {
    throw codeOf(error) === 'EEXIST'
      ? existing(path, hasForce)
      : new OpsError(`${path} cannot be written: ${messageOf(error)}`, { cause: error })
  })

export const existing = (path: string, hasForce = true) =>
  new OpsError(`${path} exists. Name another file${hasForce ? ', or replace it with --force' : ''}.`)

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : '')

/** @throws OpsError */
export const readText = (path: string) => reading(path, () => readFileSync(path, 'utf8'))

/** @throws OpsError in the place of the errors of `read` */
export function reading<Result>(path: string, read: () => Result): Result {
  try {
    return read()
  } catch (error) {
    throw cannotBeRead(path, error)
  }
}

export const cannotBeRead = (path: string, error: unknown) =>
  new OpsError(`${path} ${reasons[codeOf(error)] ?? `cannot be read: ${messageOf(error)}`}`, { cause: error })

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EACCES: 'may not be read by this user',
  EISDIR: 'is a directory',
}
