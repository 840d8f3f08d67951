// Suspends a running Postgres, as the moment of a power failure. Linux only.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { waitFor } from './waitFor.ts'

/**
 * Suspends all processes of the Postgres in a directory, once none of them waits for the disk.
 * @param directory of its data, as for `startEmbeddedPostgres`
 * @returns their ids
 */
export async function freezePostgres(directory: string): Promise<readonly number[]> {
  const server = await postgresPid(directory)
  // The postmaster first, so that it starts no further process.
  process.kill(server, 'SIGSTOP')
  const frozen = [server, ...(await childrenOf(server))]
  for (const pid of frozen) process.kill(pid, 'SIGSTOP')
  const isFrozen = async () => (await Promise.all(frozen.map(isStopped))).every(Boolean)
  await waitFor(isFrozen, { what: 'Postgres to be suspended' })
  return frozen
}

export const postgresPid = async (directory: string): Promise<number> =>
  Number.parseInt(await readFile(join(directory, 'cluster', 'postmaster.pid'), 'utf8'), 10)

async function childrenOf(pid: number): Promise<number[]> {
  const list = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return list.trim().split(' ').map(Number)
}

async function isStopped(pid: number): Promise<boolean> {
  // The state follows the process name, which is in parentheses and may contain anything.
  return /\) [TZ] /.test(await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ') Z '))
}
