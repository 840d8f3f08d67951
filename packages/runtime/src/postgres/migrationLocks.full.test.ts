import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { createTestDatabase } from '@paylog/testing/testDatabase'
import { waitFor } from '@paylog/testing/waitFor'
import type pg from 'pg'
import t, { type Test } from 'tap'
import { createLog } from '../telemetry/log.ts'
import { migrate } from './migrate.ts'
import { createPool } from './pool.ts'

const log = createLog({ app: 'test', level: 'silent' })

async function databaseInUse(t: Test) {
  const { databaseUrl } = await createTestDatabase(t)
  const pool = createPool({ databaseUrl, applicationName: 'test', max: 4, log })
  t.teardown(() => pool.end())
  const root = t.testdir({ '001_payments.sql': 'create table payments (id int)' })
  const directory = pathToFileURL(`${root}/`)
  await migrate(pool, { schema: 'a', directory })
  return {
    databaseUrl,
    pool,
    directory,
    add: (name: string, sql: string) => writeFileSync(`${root}/${name}`, sql),
    /** Starts a read transaction that stays open. */
    async longTransaction(): Promise<pg.PoolClient> {
      const client = await pool.connect()
      await client.query('begin; select * from a.payments')
      return client
    },
  }
}

async function waitsForLock(pool: pg.Pool): Promise<boolean> {
  const { rows } = await pool.query("select from pg_locks where not granted and relation = 'a.payments'::regclass")
  return rows.length > 0
}

t.test('a migration that waits for a long transaction does not block readers, and completes after it', async (t) => {
  const { pool, directory, add, longTransaction } = await databaseInUse(t)
  const reader = await longTransaction()
  add('002_more.sql', 'alter table payments add column note text')
  const migrating = migrate(pool, { schema: 'a', directory })
  await waitFor(() => waitsForLock(pool), { what: 'the migration to queue up' })
  const start = performance.now()
  await pool.query('select * from a.payments')
  t.ok(performance.now() - start < 3_000, 'a later reader waits only briefly')
  await waitFor(() => waitsForLock(pool), { what: 'the migration to try again' })
  await reader.query('commit')
  reader.release()
  t.same(await migrating, ['002_more.sql'])
  t.same(await migrate(pool, { schema: 'a', directory }), [])
})

t.test('a migration that never gets its lock fails and is rolled back', async (t) => {
  const { pool, directory, add, longTransaction } = await databaseInUse(t)
  const reader = await longTransaction()
  add('002_more.sql', 'create table half (id int); alter table payments add column note text')
  await t.rejects(migrate(pool, { schema: 'a', directory, lockRetryTimeoutMs: 0 }), {
    message: 'the migration 002_more.sql failed: canceling statement due to lock timeout',
  })
  await reader.query('commit')
  reader.release()
  t.same((await pool.query("select to_regclass('a.half') as half")).rows, [{ half: null }])
  t.same(await migrate(pool, { schema: 'a', directory }), ['002_more.sql'])
})

t.test('the migration of a killed process is rolled back and applied by the next one', async (t) => {
  const { databaseUrl, pool, directory, add } = await databaseInUse(t)
  add('002_more.sql', 'create table more (id int)')
  add(
    '003_slow.sql',
    'create table half (id int); select pg_sleep(case when exists (select from a.calm) then 0 else 60 end)',
  )
  await pool.query('create table a.calm (id int)')
  const script = fileURLToPath(new URL('fixtures/migrating.ts', import.meta.url))
  const env = { DATABASE_URL: databaseUrl, DIRECTORY: directory.href }
  const child = spawn(process.execPath, [script], { env, stdio: ['ignore', 'ignore', 'inherit'] })
  const exited = once(child, 'exit')
  t.teardown(() => child.kill('SIGKILL'))
  await waitFor(
    async () => {
      if (child.exitCode !== null) throw new Error(`the migration ended with ${child.exitCode}`)
      const { rows } = await pool.query(
        "select from pg_stat_activity where application_name = 'migrating' and wait_event = 'PgSleep'",
      )
      return rows.length > 0
    },
    { what: 'the slow statement' },
  )
  child.kill('SIGKILL')
  await exited
  await pool.query('insert into a.calm values (1)')
  t.same(await migrate(pool, { schema: 'a', directory }), ['003_slow.sql'], 'the earlier file was applied')
})
