// Finds and stops an orphan: a Postgres that a killed process left running on a data directory.
import { execFile } from 'node:child_process'
import { readFile, readlink, realpath, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Logger } from '@paylog/runtime/telemetry/log'

const run = promisify(execFile)
const fastStopMs = 10_000
const maxStopMs = 20_000
const pollMs = 20

/**
 * Stops a Postgres whose owner, the process that started it, has ended. Then records this process as the owner.
 *
 * @throws when the owner is still alive: the directory is in use
 */
export async function stopOrphan(directory: string, cluster: string, log: Logger): Promise<void> {
  const ownerFile = join(directory, 'owner')
  const postmaster = await findPostmaster(cluster)
  if (postmaster !== undefined) {
    const owner = Number(await readFile(ownerFile, 'utf8').catch(() => ''))
    // An orphan gets another parent. If the parent is still the recorded owner, the owner runs, with no reused pid.
    if (postmaster.parent === owner) throw new Error(`the database in ${directory} is in use by process ${owner}`)
    log.warn({ pid: postmaster.pid, directory }, 'stopping an orphaned Postgres')
    await stopPostmaster(cluster, postmaster.pid)
  }
  await writeFile(ownerFile, String(process.pid), { mode: 0o600 })
}

async function stopPostmaster(cluster: string, pid: number): Promise<void> {
  process.kill(pid, 'SIGINT')
  const startedAt = performance.now()
  let isForced = false
  while ((await findPostmaster(cluster))?.pid === pid) {
    const waitedMs = performance.now() - startedAt
    if (waitedMs > maxStopMs) throw new Error(`the orphaned Postgres (pid ${pid}) does not stop`)
    if (waitedMs > fastStopMs && !isForced) {
      isForced = true
      process.kill(pid, 'SIGQUIT')
    }
    await pause(pollMs)
  }
}

// The pid file alone is not enough: after a crash another process may have the pid.
async function findPostmaster(cluster: string): Promise<{ pid: number; parent: number } | undefined> {
  const file = await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '')
  const pid = Number.parseInt(file, 10)
  if (!(pid > 0)) return undefined
  try {
    return process.platform === 'linux' ? await inspectByProc(cluster, pid) : await inspectByPs(pid)
  } catch {
    // No such process.
    return undefined
  }
}

async function inspectByProc(cluster: string, pid: number): Promise<{ pid: number; parent: number } | undefined> {
  const [home, workingDirectory, status] = await Promise.all([
    realpath(cluster),
    readlink(`/proc/${pid}/cwd`),
    readFile(`/proc/${pid}/status`, 'utf8'),
  ])
  if (workingDirectory !== home) return undefined
  return { pid, parent: Number(/^PPid:\s*(\d+)$/m.exec(status)?.[1]) }
}

async function inspectByPs(pid: number): Promise<{ pid: number; parent: number } | undefined> {
  const { stdout } = await run('ps', ['-o', 'ppid=,comm=', '-p', String(pid)])
  const match = /^\s*(\d+)\s.*postgres/.exec(stdout)
  return match === null ? undefined : { pid, parent: Number(match[1]) }
}
