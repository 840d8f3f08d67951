// Blocks the commits of a server until a test releases them.
import { waitFor } from '@paylog/testing/waitFor'
import pg from 'pg'
import type { Test } from 'tap'
import { queryOnce } from './durability/privatePostgres.ts'

/** Blocks the server's commits from the next one on, until they are released or the test ends. */
export async function blockCommits(t: Test, databaseUrl: string) {
  const other = new pg.Client({ connectionString: databaseUrl })
  await other.connect()
  t.teardown(() => other.end())
  await other.query('begin')
  await other.query('update event_store.writer set epoch = epoch')
  const blocked = `select pid from pg_stat_activity
    where datname = current_database() and application_name = 'embedded-event-store writer' and wait_event_type = 'Lock'`
  const isBlocked = async () => (await queryOnce(databaseUrl, blocked)).length > 0
  return {
    untilOneWaits: () => waitFor(isBlocked, { what: 'a blocked commit' }),
    /** Runs another statement in the blocking transaction. */
    query: (text: string, values: readonly unknown[]) => other.query(text, [...values]),
    async letGo() {
      await other.query('commit')
      await other.end()
    },
  }
}
