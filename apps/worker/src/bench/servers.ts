// The servers of the benchmark, with their data in a temporary directory: Postgres, and Redis where it is installed.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '@paylog/embedded-postgres/embeddedPostgres'
import { createLog } from '@paylog/runtime/log'
import { createPool } from '@paylog/runtime/postgres'
import { freePort } from '@paylog/testing/processes'
import { findRedis, startRedisProcess } from '@paylog/testing/redisProcess'

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
  { directory, path }: { directory: string; path: string | undefined },
): Promise<string | undefined> {
  const program = await findRedis(path)
  if (program === undefined) return undefined
  const redis = await startRedisProcess({ program, port: await freePort(), directory, isDurable: true })
  stack.defer(() => redis.stop())
  return redis.url
}
