// A log for tests: the embedded node as a real process on a database of its own.
import type { Test } from 'tap'
import { createMigratedDatabase } from './migratedDatabase.ts'
import { freePort, startProcess, type TestProcess } from './processes.ts'

const script = new URL('../../../apps/embedded-event-store/src/main.ts', import.meta.url)

export type TestEventStore = {
  /** `esdb://…`, the same after a restart. */
  readonly connectionString: string
  /** It has the tables of the apps as well. */
  readonly databaseUrl: string
  /** Kills the node without a chance to say goodbye. */
  kill(): Promise<void>
  start(): Promise<void>
  /** The process that runs, to be stopped or frozen. */
  process(): TestProcess
}

/**
 * Starts a node; it ends with the test.
 * @param settings of the node, by the names of its variables, beside those that a test always needs
 */
export async function startEventStore(
  t: Test,
  settings: Readonly<Record<string, string>> = {},
): Promise<TestEventStore> {
  const { databaseUrl } = await createMigratedDatabase(t)
  const port = await freePort()
  const env = { ...settings, DATABASE_URL: databaseUrl, HOST: '127.0.0.1', PORT: String(port), LOG_LEVEL: 'warn' }
  let node = await startProcess(t, { script, env })
  return {
    connectionString: `esdb://127.0.0.1:${port}?tls=false`,
    databaseUrl,
    kill: () => node.kill('SIGKILL'),
    process: () => node,
    async start() {
      node = await startProcess(t, { script, env })
    },
  }
}
