// Databases that the tests of a file reuse: creating one takes longer than most tests.

import { createPool } from '@paylog/runtime/postgres/pool'
import type { Logger } from '@paylog/runtime/telemetry/log'
import { createMigratedDatabase } from '@paylog/testing/migratedDatabase'
import type { Pool } from 'pg'
import file, { type Test } from 'tap'
import { planSettings } from '../deliveries/tables/deliveries.ts'

const free: string[] = []

/**
 * An empty database for this test alone. The database of a failed test is kept.
 * @param options `max` is the size of its pool, which is closed with the test
 */
export async function workerDatabase(
  t: Test,
  { max, log }: { readonly max: number; readonly log: Logger },
): Promise<{ readonly databaseUrl: string; readonly pool: Pool }> {
  const used = free.pop()
  const databaseUrl = used ?? (await createMigratedDatabase(file)).databaseUrl
  const pool = createPool({ databaseUrl, applicationName: 'test', max, settings: planSettings, log })
  t.teardown(async () => {
    await pool.end()
    if (t.passing()) free.push(databaseUrl)
  })
  if (used !== undefined) await reset(pool)
  return { databaseUrl, pool }
}

/** Killed processes of the last test may hold locks. A new installation id separates the Redis keys. */
async function reset(pool: Pool): Promise<void> {
  await pool.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  )
  await pool.query('update webhooks.installation set id = gen_random_uuid()')
  await emptyTables(pool)
}

/** Removes all records and, in Postgres, all queued jobs. */
export async function emptyTables(pool: Pool): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await pool.query(emptySql)
      return
    } catch (error) {
      // A statement of a killed process may still be ending, and locks the tables in another order.
      const isDeadlock = error instanceof Error && 'code' in error && error.code === '40P01'
      if (!isDeadlock || attempt === maxAttempts) throw error
    }
  }
}

const maxAttempts = 5

// Skips empty tables: truncating all tables of BullMQ takes longer than most tests.
const emptySql = `
do $$
declare
  name regclass;
  is_used boolean;
begin
  for name in select format('%I.%I', schemaname, tablename) from pg_tables
    where schemaname in ('webhooks', 'queue') and tablename not in ('migrations', 'migration', 'installation')
  loop
    execute format('select exists (select from %s)', name) into is_used;
    if is_used then execute format('truncate %s cascade', name); end if;
  end loop;
end $$`
