// The servers of the benchmark, with their data in a temporary directory: Postgres, and Redis where it is installed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:fs'
import { access, mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { startEmbeddedPostgres } from '@paylog/runtime/embeddedPostgres'
import { createLog } from '@paylog/runtime/log'
import { createPool } from '@paylog/runtime/postgres'
import { freePort } from '@paylog/testing/processes'

const redisReadyTimeoutMs = 10_000

/** @param stack with which the directory is deleted */
export async function temporaryDirectory(stack: AsyncDisposableStack): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'paylog-webhooks-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  return directory
}

/** @returns with `settings`, what its answers are worth, as Postgres itself says */
export async function startPostgres(
  stack: AsyncDisposableStack,
  directory: string,
): Promise<{ databaseUrl: string; settings: string }> {
  const log = createLog({ app: 'bench', level: 'error' })
  const { databaseUrl, stop } = await startEmbeddedPostgres({ directory, port: await freePort(), log })
  stack.defer(stop)
  const pool = createPool({ databaseUrl, applicationName: 'bench', max: 1, log })
  try {
    const { rows } = await pool.query<{ name: string; setting: string }>(
      `select name, setting from pg_settings where name in ('fsync', 'full_page_writes', 'synchronous_commit') order by 1`,
    )
    return { databaseUrl, settings: rows.map(({ name, setting }) => `${name}=${setting}`).join(', ') }
  } finally {
    await pool.end()
  }
}

/** A Redis that keeps its queues on disk as one in production does; nothing where there is none. */
export async function startRedis(
  stack: AsyncDisposableStack,
  { directory, path = '' }: { directory: string; path: string | undefined },
): Promise<string | undefined> {
  const program = await findProgram('redis-server', path)
  if (program === undefined) return undefined
  const port = await freePort()
  const flags = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'yes', '--dir', directory]
  const child = spawn(program, flags, { stdio: 'ignore' })
  const exited = once(child, 'exit')
  stack.defer(async () => {
    child.kill('SIGTERM')
    await exited
  })
  const giveUpAt = performance.now() + redisReadyTimeoutMs
  while (!(await answers(port))) {
    if (child.exitCode !== null || performance.now() > giveUpAt) throw new Error(`${program} did not start`)
    await pause(20)
  }
  return `redis://127.0.0.1:${port}`
}

async function findProgram(name: string, path: string): Promise<string | undefined> {
  for (const directory of path.split(delimiter).filter((part) => part !== '')) {
    const program = join(directory, name)
    const isExecutable = await access(program, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (isExecutable) return program
  }
  return undefined
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
