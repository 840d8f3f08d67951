// The read side as it runs in earnest, on a Postgres, an identity backend and data of its own.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@paylog/embedded-postgres/embeddedPostgres'
import { readModelMigrations } from '@paylog/projections/migrate'
import type { Logger } from '@paylog/runtime/log'
import { createPool, migrate } from '@paylog/runtime/postgres'
import { freePort } from '@paylog/testing/processes'

export type MeasuredSystem = {
  readonly databaseUrl: string
  readonly apiPort: number
  readonly identityPort: number
}

/**
 * Starts Postgres with empty read models, hands the database to `prepare`, then starts the two processes.
 * @param stack whatever was started is stopped and deleted with it, also when a later part did not start
 */
export async function startSystem(
  stack: AsyncDisposableStack,
  options: { readonly owners: number; readonly log: Logger; readonly prepare: (databaseUrl: string) => Promise<void> },
): Promise<MeasuredSystem> {
  const { databaseUrl } = await startPostgres(stack, options.log)
  const pool = createPool({ databaseUrl, applicationName: 'bench', max: 1, log: options.log })
  await migrate(pool, readModelMigrations).finally(() => pool.end())
  await options.prepare(databaseUrl)
  const [apiPort, identityPort] = [await freePort(), await freePort()]
  await startProcess(stack, './identity.ts', { PORT: String(identityPort), OWNERS: String(options.owners) })
  const AUTH_URL = `http://127.0.0.1:${identityPort}`
  await startProcess(stack, '../main.ts', { PORT: String(apiPort), DATABASE_URL: databaseUrl, AUTH_URL })
  return { databaseUrl, apiPort, identityPort }
}

async function startPostgres(stack: AsyncDisposableStack, log: Logger): Promise<EmbeddedPostgres> {
  const directory = await mkdtemp(join(tmpdir(), 'paylog-queries-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const postgres = await startEmbeddedPostgres({ directory, port: await freePort(), log })
  stack.defer(postgres.stop)
  return postgres
}

/** Its log is written, at the level of an installation, and read by nobody. */
async function startProcess(
  stack: AsyncDisposableStack,
  script: string,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  const child = spawn(process.execPath, [fileURLToPath(new URL(script, import.meta.url))], {
    env: { ...env },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  stack.defer(() => stopProcess(child))
  const refused = once(child, 'exit').then(([code]) => {
    throw new Error(`${script} ended with ${code} before it served`)
  })
  refused.catch(() => undefined)
  await Promise.race([once(child, 'message'), refused])
}

async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGTERM')
  await gone
}
