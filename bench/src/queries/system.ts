// query-api as in production, with its own Postgres, identity backend and data, and the bare routes on the same.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readModelMigrations } from '@paylog/projections/registry'
import { migrate } from '@paylog/runtime/postgres/migrate'
import { createPool } from '@paylog/runtime/postgres/pool'
import type { Logger } from '@paylog/runtime/telemetry/log'
import { freePort } from '@paylog/testing/processes'
import { type PrivatePostgres, startPrivatePostgres, temporaryDirectory } from '../harness/privatePostgres.ts'
import { startBenchmarkProgram } from '../harness/program.ts'
import type { BareRoute } from './bareRoutes.ts'

export type Side = { readonly port: number; readonly pid: number }

export type MeasuredSystem = {
  readonly postgres: PrivatePostgres
  readonly api: Side
  /** The route of the query with this number is below `/number`. */
  readonly bare: Side
  readonly identity: Side
}

/** High enough for a benchmark, so that requests are counted as in production. */
const limits = { RATE_LIMIT_PER_MINUTE: '1000000', RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE: '1000000' }

/**
 * Starts Postgres with empty read models, calls `prepare` with the database, then starts the other processes.
 * @param stack stops and deletes everything, also after a failed start
 */
export async function startSystem(
  stack: AsyncDisposableStack,
  options: {
    readonly owners: number
    readonly log: Logger
    readonly prepare: (databaseUrl: string) => Promise<readonly BareRoute[]>
  },
): Promise<MeasuredSystem> {
  const postgres = await startPrivatePostgres(stack)
  const { databaseUrl } = postgres
  const pool = createPool({ databaseUrl, applicationName: 'bench', max: 1, log: options.log })
  await migrate(pool, readModelMigrations).finally(() => pool.end())
  const ROUTES_FILE = join(await temporaryDirectory(stack), 'routes.json')
  await writeFile(ROUTES_FILE, JSON.stringify(await options.prepare(databaseUrl)))
  const start = async (script: string, env: Readonly<Record<string, string>>): Promise<Side> => {
    const port = await freePort()
    const program = await startBenchmarkProgram(new URL(script, import.meta.url), {
      env: { PORT: String(port), ...env },
      stack,
    })
    return { port, pid: program.pid }
  }
  const identity = await start('./identity.ts', { OWNERS: String(options.owners) })
  const common = { DATABASE_URL: databaseUrl, AUTH_URL: `http://127.0.0.1:${identity.port}` }
  const api = await start('../../../apps/query-api/src/main.ts', { ...common, ...limits })
  const bare = await start('./bareRoutes.ts', { ...common, ROUTES_FILE })
  return { postgres, api, bare, identity }
}
