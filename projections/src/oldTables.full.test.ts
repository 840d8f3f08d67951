import { readFile } from 'node:fs/promises'
import { migrate } from '@paylog/runtime/postgres/migrate'
import { createPool } from '@paylog/runtime/postgres/pool'
import { createLog } from '@paylog/runtime/telemetry/log'
import { createTestDatabase } from '@paylog/testing/testDatabase'
import t from 'tap'
import { createApplier } from './apply/applier.ts'
import { liveCheckpoints } from './apply/checkpoints.ts'
import { inTransaction } from './apply/transaction.ts'
import { copyRows } from './apply/writers.ts'
import { payments } from './payments/projection.ts'
import { projections, readModelMigrations } from './registry.ts'
import { indexTable, listTables, makeTable, promoteTable } from './tables/tables.ts'
import { differenceOf, foldedRows, tableRows } from './testing/expectedRows.ts'
import { addPaymentTo, createLogFixture, user } from './testing/logFixture.ts'

const oldTables = await readFile(new URL('./fixtures/formerTables.sql', import.meta.url), 'utf8')

t.test('tables from before versioned tables keep their rows and checkpoints', async (t) => {
  const { databaseUrl } = await createTestDatabase(t)
  const log = createLog({ app: 'test', level: 'silent' })
  const pool = createPool({ databaseUrl, applicationName: 'test', max: 4, log })
  t.teardown(() => pool.end())
  await pool.query(`create schema read_models;
    create table read_models.migrations (
      name text primary key, sha256 text not null, applied_at timestamptz not null default now());
    set search_path to read_models, public; ${oldTables}; reset search_path`)
  const history = createLogFixture()
  for (const id of ['u1', 'u2', 'u3']) addPaymentTo(history, user(id))
  await pool.query("insert into read_models.checkpoints (name) values ('payments@1')")
  const applier = createApplier({ pool, projection: payments, version: 1 })
  await applier.start()
  await applier.apply(history.batch())

  t.same(await migrate(pool, readModelMigrations), ['005_tables.sql'], 'no table is recreated')
  t.same(await migrate(pool, readModelMigrations), [])
  t.equal(differenceOf(await tableRows(pool, payments, 'payments'), foldedRows(payments, history.events)), undefined)
  const live = await liveCheckpoints(pool)
  t.same([...live.keys()].toSorted(), projections.map(({ name }) => name).toSorted())
  t.match(live.get('payments'), { version: 1, definition: 1, position: history.batch().position })
  t.equal(live.get('products')?.position, undefined)
  t.ok((await listTables(pool)).every(({ state }) => state === 'live'))

  const version = await makeTable(pool, payments, 'building')
  const next = createApplier({ pool, projection: payments, version, writer: copyRows })
  await next.start()
  await next.apply(history.batch())
  await indexTable(pool, payments, version)
  const successor = { version, position: history.batch().position, viewLockTimeoutMs: 1_000 }
  await inTransaction(pool, (client) => promoteTable(client, payments, successor))
  t.same(
    (await listTables(pool, 'payments')).map(({ state }) => state),
    ['retired', 'live'],
    'later migrations follow',
  )
  t.equal(differenceOf(await tableRows(pool, payments, 'payments'), foldedRows(payments, history.events)), undefined)
})
