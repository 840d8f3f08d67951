import { inTransaction } from '@paylog/runtime/postgres/transaction'
import { waitFor } from '@paylog/testing/waitFor'
import type { Pool } from 'pg'
import t from 'tap'
import { nullable, text } from '../columns.ts'
import { payments } from '../payments/projection.ts'
import type { Projection } from '../projection.ts'
import { readModelDatabase } from '../testing/projectionHarness.ts'
import {
  dropScratchTables,
  dropTable,
  indexTable,
  listTables,
  lockLiveCheckpoint,
  makeTable,
  promoteTable,
  unfinishedOrNewTable,
} from './tables.ts'

const later: Projection = {
  ...payments,
  schemaVersion: payments.schemaVersion + 1,
  columns: { news: nullable(text), ...payments.columns },
}

const switching = (pool: Pool, projection: Projection, version: number, lockTimeoutMs = 1_000) =>
  inTransaction(pool, async (client) => {
    await lockLiveCheckpoint(client, projection)
    await promoteTable(client, projection, { version, position: undefined, viewLockTimeoutMs: lockTimeoutMs })
  })

const states = async (pool: Pool) => (await listTables(pool, 'payments')).map(({ state }) => state)

t.test(
  'versions are assigned one after the other, also concurrently, and the live table is never dropped',
  async (t) => {
    const { pool } = await readModelDatabase(t)
    const versions = await Promise.all([1, 2, 3].map(() => makeTable(pool, payments, 'building')))
    t.same(versions.toSorted(), [2, 3, 4])
    await dropScratchTables(pool, payments)
    t.same(await states(pool), ['live', 'building', 'building', 'building'], 'tables of rebuilds are kept')
    for (const version of versions) await dropTable(pool, payments, version)
    await t.rejects(dropTable(pool, payments, 1), /payments_v1 is the live table/)
    await dropTable(pool, payments, 9)
    t.same(await states(pool), ['live'])
  },
)

t.test('a rebuild continues the unfinished table of its schema version and drops the others', async (t) => {
  const { pool } = await readModelDatabase(t)
  t.equal(await unfinishedOrNewTable(pool, payments), 2)
  t.equal(await unfinishedOrNewTable(pool, payments), 2)
  const tables = async () =>
    (await listTables(pool, 'payments')).map(({ schema_version, state }) => [schema_version, state])
  const { schemaVersion } = payments
  t.same(await tables(), [
    [schemaVersion, 'live'],
    [schemaVersion, 'building'],
  ])
  await unfinishedOrNewTable(pool, later)
  t.same(await tables(), [
    [schemaVersion, 'live'],
    [schemaVersion + 1, 'building'],
  ])
})

t.test('a table whose checkpoint was moved does not become live', async (t) => {
  const { pool } = await readModelDatabase(t)
  const version = await makeTable(pool, payments, 'building')
  await pool.query(
    "update read_models.checkpoints set commit_position = 5, prepare_position = 5 where name = 'payments@2'",
  )
  await t.rejects(switching(pool, payments, version), { name: 'CheckpointLostError' }, 'another process fills it')
  await t.rejects(switching(pool, payments, 7), { name: 'CheckpointLostError' }, 'the table was dropped')
  t.same(await states(pool), ['live', 'building'])
})

t.test('queries wait while the view is recreated, and privileges are kept', async (t) => {
  const { pool } = await readModelDatabase(t)
  const role = `reader_${process.pid}`
  await pool.query(`create role ${role}; grant usage on schema read_models to ${role};
    grant select on read_models.payments to ${role} with grant option; grant select on read_models.payments to public`)
  const version = await makeTable(pool, later, 'building')
  await indexTable(pool, later, version)
  const query = { name: 'tested', text: 'select id, status from read_models.payments' }
  const reader = await pool.connect()
  t.teardown(() => reader.release(true))
  await reader.query(query)
  const { rows } = await reader.query<{ pid: number }>('select pg_backend_pid() as pid')
  let waiting: Promise<unknown> | undefined
  await inTransaction(pool, async (client) => {
    await promoteTable(client, later, { version, position: undefined, viewLockTimeoutMs: 1_000 })
    waiting = reader.query(query)
    const isWaiting = async () => {
      const found = await pool.query("select from pg_stat_activity where pid = $1 and wait_event_type = 'Lock'", [
        rows[0]?.pid,
      ])
      return found.rowCount === 1
    }
    await waitFor(isWaiting, { what: 'the reader to wait' })
  })
  t.match(await waiting, { rowCount: 0 })
  t.match((await pool.query('select news from read_models.payments')).fields, [{ name: 'news' }])
  const privileges = await pool.query(
    `select has_table_privilege($1, 'read_models.payments', 'select with grant option') as role,
       (select count(*)::int from pg_class, aclexplode(relacl) where oid = 'read_models.payments'::regclass and grantee = 0) as public`,
    [role],
  )
  t.same(privileges.rows, [{ role: true, public: 1 }])
  await pool.query(`drop owned by ${role}; drop role ${role}`)
})

t.test('a switch gives up when the view is in use for too long, and changes nothing', async (t) => {
  const { pool } = await readModelDatabase(t)
  const version = await makeTable(pool, payments, 'building')
  await inTransaction(pool, async (reader) => {
    await reader.query('select from read_models.payments')
    await t.rejects(switching(pool, payments, version, 50), { code: '55P03' })
  })
  t.same(await states(pool), ['live', 'building'])
  await switching(pool, payments, version, 50)
  t.same(await states(pool), ['retired', 'live'])
})
