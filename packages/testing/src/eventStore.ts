// An event store for tests: the embedded event store as a real process with its own database.
import type { PersonalDataKeys } from '@paylog/privacy/dataKeys'
import pg from 'pg'
import type { Test } from 'tap'
import { startTestKeys } from './dataKeys.ts'
import { createMigratedDatabase } from './migratedDatabase.ts'
import { freePort, startProcess, type TestProcess } from './processes.ts'

const script = new URL('../../../apps/embedded-event-store/src/main.ts', import.meta.url)

export type TestEventStore = {
  /** `esdb://…`, the same after a restart. */
  readonly connectionString: string
  /** The database also has the apps' tables. */
  readonly databaseUrl: string
  /** For `createEventStore`; in this database. */
  readonly keys: PersonalDataKeys
  /** Sends SIGKILL. */
  kill(): Promise<void>
  start(): Promise<void>
  /** The running process. */
  process(): TestProcess
  /** Removes the last events and restarts, as a restore from an older backup does. */
  cut(events: number): Promise<void>
  /** Removes all events of ours and restarts: another log begins. */
  empty(): Promise<void>
}

/**
 * Starts an event store, which ends with the test.
 * @param settings additional environment variables
 */
export async function startEventStore(
  t: Test,
  settings: Readonly<Record<string, string>> = {},
): Promise<TestEventStore> {
  const { databaseUrl } = await createMigratedDatabase(t)
  const keys = await startTestKeys(t, databaseUrl)
  const port = await freePort()
  const env = { ...settings, DATABASE_URL: databaseUrl, HOST: '127.0.0.1', PORT: String(port), LOG_LEVEL: 'warn' }
  let server = await startProcess(t, { script, env })
  async function restart(sql: string): Promise<void> {
    await server.kill('SIGKILL')
    const client = new pg.Client({ connectionString: databaseUrl })
    await client.connect()
    await client.query(sql)
    await client.end()
    server = await startProcess(t, { script, env })
  }
  return {
    connectionString: `esdb://127.0.0.1:${port}?tls=false`,
    databaseUrl,
    keys,
    kill: () => server.kill('SIGKILL'),
    process: () => server,
    cut: (events) =>
      restart(`delete from event_store.events where position in (
        select position from event_store.events order by position desc limit ${events}
      )`),
    empty: () => restart("delete from event_store.events where stream not like '$%'"),
    async start() {
      server = await startProcess(t, { script, env })
    },
  }
}
