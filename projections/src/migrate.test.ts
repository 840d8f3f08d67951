import { migrate } from '@paylog/runtime/postgres/migrate'
import { createPool } from '@paylog/runtime/postgres/pool'
import { createLog } from '@paylog/runtime/telemetry/log'
import { createTestDatabase } from '@paylog/testing/testDatabase'
import t, { type Test } from 'tap'
import { projections, readModelMigrations } from './registry.ts'
import { tableName } from './tables/tables.ts'

async function emptyDatabase(t: Test) {
  const { databaseUrl } = await createTestDatabase(t)
  const log = createLog({ app: 'test', level: 'silent' })
  const pool = createPool({ databaseUrl, applicationName: 'test', max: 2, log })
  t.teardown(() => pool.end())
  return pool
}

t.test('the migration uses pg_trgm from any schema in which it is installed', async (t) => {
  const pool = await emptyDatabase(t)
  await pool.query('create schema "Our extensions"; create extension pg_trgm with schema "Our extensions"')
  await migrate(pool, readModelMigrations)
  const { rows } = await pool.query(
    "select extnamespace::regnamespace::text as schema from pg_extension where extname = 'pg_trgm'",
  )
  t.same(rows, [{ schema: '"Our extensions"' }])
})

t.test('a role that may create objects in the database can migrate it', async (t) => {
  const { databaseUrl } = await createTestDatabase(t)
  const log = createLog({ app: 'test', level: 'silent' })
  const url = new URL(databaseUrl)
  const name = url.pathname.slice(1)
  const administrator = createPool({ databaseUrl, applicationName: 'test', max: 1, log })
  await administrator.query(`create role ${name} login password 'x'; grant create on database ${name} to ${name}`)
  t.teardown(async () => {
    await administrator.query(`drop owned by ${name}; drop role ${name}`)
    await administrator.end()
  })
  Object.assign(url, { username: name, password: 'x' })
  const pool = createPool({ databaseUrl: url.href, applicationName: 'test', max: 1, log })
  t.ok((await migrate(pool, readModelMigrations)).includes('001_read_models.sql'))
  await pool.end()
})

t.test('a migration without permission for pg_trgm fails with an error that names the remedy', async (t) => {
  const pool = await emptyDatabase(t)
  await pool.query(`
    create function reject() returns event_trigger language plpgsql as $$
      begin raise insufficient_privilege using message = 'this extension is not on the list'; end $$;
    create event trigger rejecting on ddl_command_start when tag in ('CREATE EXTENSION') execute function reject()`)
  await t.rejects(migrate(pool, readModelMigrations), {
    message:
      /^the migration 001_read_models.sql failed: .*pg_trgm.* \(this extension is not on the list\): .*"create extension pg_trgm"/,
    cause: { code: '42501' },
  })
  await pool.query('drop event trigger rejecting')
  t.same(
    await migrate(pool, readModelMigrations),
    ['001_read_models.sql', ...projections.map((projection) => tableName(projection, 1))],
    'the next migration continues',
  )
})
