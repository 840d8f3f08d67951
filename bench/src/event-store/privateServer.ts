// An embedded event store process on its own Postgres with durable settings.

import type { PersonalDataKeys } from '@paylog/privacy/dataKeys'
import { freePort } from '@paylog/testing/processes'
import { startKeys } from '../harness/keys.ts'
import { type PrivatePostgres, startPrivatePostgres } from '../harness/privatePostgres.ts'
import { startBenchmarkProgram } from '../harness/program.ts'
import { peakMiB, residentMiB } from '../harness/usage.ts'

export type PrivateServer = {
  readonly connectionString: string
  /** For `createEventStore`. */
  readonly keys: PersonalDataKeys
  /** Also used by others. */
  readonly postgres: PrivatePostgres
  /** Changes with a restart. */
  pid(): number
  /** Resident memory of the event store process, without Postgres. */
  memoryMiB(): number
  peakMiB(): number
  /** Restarts the event store. Resolves with the time until it serves, in ms. */
  restart(): Promise<number>
}

/** @param stack stops both and deletes the data */
export async function startPrivateServer(stack: AsyncDisposableStack): Promise<PrivateServer> {
  const postgres = await startPrivatePostgres(stack)
  const keys = await startKeys(stack, { DATABASE_URL: postgres.databaseUrl })
  const port = await freePort()
  const env = { DATABASE_URL: postgres.databaseUrl, PORT: String(port), LOG_LEVEL: 'warn' }
  const start = () =>
    startBenchmarkProgram(new URL('../../../apps/embedded-event-store/src/main.ts', import.meta.url), { env, stack })
  let server = await start()
  return {
    connectionString: `esdb://127.0.0.1:${port}?tls=false`,
    keys,
    postgres,
    pid: () => server.pid,
    memoryMiB: () => residentMiB(server.pid),
    peakMiB: () => peakMiB(server.pid),
    async restart() {
      await server.stop()
      const begin = performance.now()
      server = await start()
      return performance.now() - begin
    },
  }
}
