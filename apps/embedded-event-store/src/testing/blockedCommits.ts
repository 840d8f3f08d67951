// Keeps a commit from happening for as long as a test wants to look.
import { waitFor } from '@paylog/testing/waitFor'
import pg from 'pg'
import type { Test } from 'tap'
import { queryOnce } from './durability/privatePostgres.ts'

/** Keeps the server's commits waiting, from the next one on, until it is told to let them go, or the test is over. */
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
    untilOneWaits: () => waitFor(isBlocked, { what: 'a commit to be under way' }),
    /** Another statement of the transaction that keeps them waiting. */
    query: (text: string, values: readonly unknown[]) => other.query(text, [...values]),
    async letGo() {
      await other.query('commit')
      await other.end()
    },
  }
}
