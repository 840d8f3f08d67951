// Finds programs that tests need and a machine may lack.
import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { delimiter, join } from 'node:path'

/** @param path as in the variable PATH @returns the path of the first of these programs that is installed */
export async function findProgram(names: readonly string[], path = ''): Promise<string | undefined> {
  const folders = path.split(delimiter).filter((part) => part !== '')
  for (const program of names.flatMap((name) => folders.map((folder) => join(folder, name)))) {
    const isExecutable = await access(program, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (isExecutable) return program
  }
  return undefined
}
