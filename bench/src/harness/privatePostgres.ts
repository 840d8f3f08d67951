// A Postgres with temporary data for one benchmark.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '@paylog/embedded-postgres/embeddedPostgres'
import { createLog } from '@paylog/runtime/telemetry/log'
import { freePort } from '@paylog/testing/processes'
import pg from 'pg'
import { parentOf } from './usage.ts'

export type PrivatePostgres = {
  readonly databaseUrl: string
  /** Its version and its durability settings. */
  readonly description: string
  /** The parent process of the connections, on Linux only. */
  readonly pid: number
}

/** @param stack deletes the directory */
export async function temporaryDirectory(stack: AsyncDisposableStack): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'paylog-bench-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  return directory
}

/** Starts Postgres with the durable settings of local mode. */
export async function startPrivatePostgres(stack: AsyncDisposableStack): Promise<PrivatePostgres> {
  const directory = await temporaryDirectory(stack)
  const log = createLog({ app: 'bench', level: 'error' })
  // As superuser, because benchmarks request checkpoints.
  const { superuserUrl: databaseUrl, stop } = await startEmbeddedPostgres({ directory, port: await freePort(), log })
  stack.defer(stop)
  return { databaseUrl, ...(await describePostgres(databaseUrl)) }
}

/** Describes an existing Postgres. */
export async function describePostgres(databaseUrl: string): Promise<Omit<PrivatePostgres, 'databaseUrl'>> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const { rows } = await client.query<{ name: string; setting: string }>(
      `select name, setting from pg_settings
       where name in ('fsync', 'full_page_writes', 'synchronous_commit', 'wal_sync_method') order by 1`,
    )
    const { rows: server } = await client.query<{ version: string; backend: number }>(
      `select current_setting('server_version') as version, pg_backend_pid() as backend`,
    )
    const { version = '', backend = 0 } = server[0] ?? {}
    const settings = rows.map(({ name, setting }) => `${name}=${setting}`).join(', ')
    const pid = process.platform === 'linux' ? parentOf(backend) : 0
    return { description: `Postgres ${version} (${settings})`, pid }
  } finally {
    await client.end()
  }
}
