// A log with its database, and commands on them, in this process or in one of their own.
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { connectEventStore } from '@paylog/event-store/testing/eventStoreHarness'
import { startEventStore } from '@paylog/testing/eventStore'
import { testPool } from '@paylog/testing/testPool'
import { waitFor } from '@paylog/testing/waitFor'
import type { Test } from 'tap'
import { type Environment, runOps, startOps } from './runOps.ts'

export async function opsHarness(t: Test) {
  const eventStore = await startEventStore(t)
  const { connectionString, databaseUrl, keys } = eventStore
  const directory = t.testdir({})
  const env = { EVENTSTORE_URL: connectionString, DATABASE_URL: databaseUrl, DATA_DIR: directory }
  const pool = testPool(t, databaseUrl, 8)
  let files = 0
  return {
    eventStore,
    store: connectEventStore(t, { connectionString, keys }),
    pool,
    directory,
    env,
    /** A name in the directory that no file has. */
    newPath: () => join(directory, `file-${++files}.ndjson`),
    run: (args: readonly string[], more: Environment = {}, input?: Readable) =>
      runOps(args, { ...env, ...more }, input),
    start: (args: readonly string[], more: Environment = {}, input?: Readable) =>
      startOps(t, args, { ...env, ...more }, input),
    /** Waits until a statement of a command waits for a lock. @param words that it contains */
    blocked: (words = '') =>
      waitFor(
        async () => {
          const { rows } = await pool.query<{ query: string }>(`select query ${sessions} and wait_event_type = 'Lock'`)
          return rows.some(({ query }) => query.includes(words))
        },
        { what: `a statement with ${words} that waits`, timeoutMs: 30_000 },
      ),
    /** Ends the statements of a killed command, which would continue once they have their locks. */
    endSessions: () => pool.query(`select pg_terminate_backend(pid) ${sessions}`),
  }
}

const sessions = `from pg_stat_activity
  where datname = current_database() and application_name in ('paylog ops', 'operator-api job')`
