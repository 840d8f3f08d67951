// query-api as in production, with its own Postgres, identity backend and data.
import { readModelMigrations } from '@paylog/projections/registry'
import { migrate } from '@paylog/runtime/postgres/migrate'
import { createPool } from '@paylog/runtime/postgres/pool'
import type { Logger } from '@paylog/runtime/telemetry/log'
import { freePort } from '@paylog/testing/processes'
import { type PrivatePostgres, startPrivatePostgres } from '../harness/privatePostgres.ts'
import { startBenchmarkProgram } from '../harness/program.ts'

export type MeasuredSystem = {
  readonly postgres: PrivatePostgres
  readonly apiPort: number
  readonly identityPort: number
}

/**
 * Starts Postgres with empty read models, calls `prepare` with the database, then starts the two processes.
 * @param stack stops and deletes everything, also after a failed start
 */
export async function startSystem(
  stack: AsyncDisposableStack,
  options: { readonly owners: number; readonly log: Logger; readonly prepare: (databaseUrl: string) => Promise<void> },
): Promise<MeasuredSystem> {
  const postgres = await startPrivatePostgres(stack)
  const { databaseUrl } = postgres
  const pool = createPool({ databaseUrl, applicationName: 'bench', max: 1, log: options.log })
  await migrate(pool, readModelMigrations).finally(() => pool.end())
  await options.prepare(databaseUrl)
  const [apiPort, identityPort] = [await freePort(), await freePort()]
  const start = (script: string, env: Readonly<Record<string, string>>) =>
    startBenchmarkProgram(new URL(script, import.meta.url), { env, stack })
  await start('./identity.ts', { PORT: String(identityPort), OWNERS: String(options.owners) })
  const AUTH_URL = `http://127.0.0.1:${identityPort}`
  await start('../../../apps/query-api/src/main.ts', { PORT: String(apiPort), DATABASE_URL: databaseUrl, AUTH_URL })
  return { postgres, apiPort, identityPort }
}
