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
  const file = await open(path, replaces ? 'w' : 'wx', 0o600).catch((cause: unknown) => {
    const isTaken = cause instanceof Error && 'code' in cause && cause.code === 'EEXIST'
    const hint = replaces === undefined ? '' : '; --force replaces it'
    throw new OpsError(`${path} ${isTaken ? `exists already${hint}` : `cannot be written: ${cause}`}`, { cause })
  })
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
  new OpsError(`${path} cannot be read: ${messageOf(error)}`, { cause: error })
