// Databases that the tests of a file use one after the other: to make one costs more than most of them do.

import { createPool } from '@paylog/runtime/postgres/postgres'
import type { Logger } from '@paylog/runtime/telemetry/log'
import { createMigratedDatabase } from '@paylog/testing/migratedDatabase'
import type { Pool } from 'pg'
import file, { type Test } from 'tap'

const free: string[] = []

/**
 * An empty database that nobody else uses until the test is over. That of a test that failed is kept as it is.
 * @param options `max` is the number of connections of its pool, which ends with the test
 */
export async function workerDatabase(
  t: Test,
  { max, log }: { readonly max: number; readonly log: Logger },
): Promise<{ readonly databaseUrl: string; readonly pool: Pool }> {
  const used = free.pop()
  const databaseUrl = used ?? (await createMigratedDatabase(file)).databaseUrl
  const pool = createPool({ databaseUrl, applicationName: 'test', max, log })
  t.teardown(async () => {
    await pool.end()
    if (t.passing()) free.push(databaseUrl)
  })
  if (used !== undefined) await asNew(pool)
  return { databaseUrl, pool }
}

/** Killed processes of the last test may hold locks, and in Redis it is to be another installation. */
async function asNew(pool: Pool): Promise<void> {
  await pool.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  )
  await pool.query('update webhooks.installation set id = gen_random_uuid()')
  await emptyTables(pool)
}

/** Nothing is recorded then, and nothing is queued in Postgres. */
export async function emptyTables(pool: Pool): Promise<void> {
  await pool.query(emptySql)
}

// What is empty already is left alone: to truncate all tables of BullMQ takes longer than most tests.
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
