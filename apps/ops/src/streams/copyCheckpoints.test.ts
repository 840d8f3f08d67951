import { readModelMigrations } from '@paylog/projections/registry'
import { migrate } from '@paylog/runtime/postgres/migrate'
import { createTestDatabase } from '@paylog/testing/testDatabase'
import { testPool } from '@paylog/testing/testPool'
import { migrateWebhooks } from '@paylog/webhooks/deliveries/migrate'
import t, { type Test } from 'tap'
import { NIL } from 'uuid'
import { moveCheckpoints, readCheckpoints } from './copy.ts'

async function database(t: Test) {
  const { databaseUrl } = await createTestDatabase(t)
  const pool = testPool(t, databaseUrl, 1)
  const rows = async () => {
    const names = ['read_models.checkpoints', 'webhooks.checkpoints']
    const found = names.map(
      (table) => `select name, commit_position::text c, prepare_position::text p, event_id id from ${table}`,
    )
    return (await pool.query(`${found.join(' union all ')} order by 1, 2`)).rows
  }
  return { pool, rows }
}

async function databaseWithCheckpoints(t: Test) {
  const opened = await database(t)
  const { pool } = opened
  await migrate(pool, readModelMigrations)
  await migrateWebhooks(pool)
  // Otherwise every projection would have to be listed here.
  await pool.query('delete from read_models.checkpoints')
  await pool.query(
    `insert into read_models.checkpoints (name, commit_position, prepare_position, event_id)
     values ('a@1', 10, 9, '${eventId}'), ('new@1', null, null, null)`,
  )
  await pool.query(`insert into webhooks.checkpoints values ('b', 20, 20, '${eventId}', now())`)
  return opened
}

const eventId = '00000000-0000-7000-8000-000000000001'
const otherId = '00000000-0000-7000-8000-000000000002'
const at = (position: bigint, id = eventId) => ({ commit: position, prepare: position, eventId: id })

t.test('all checkpoints move together, and neither those that stay nor the marker of a copy of 1.0.0', async (t) => {
  const { pool, rows } = await databaseWithCheckpoints(t)
  await pool.query(`insert into webhooks.checkpoints values ('moved to esdb://one:2113', 0, 0, '${NIL}', now())`)
  const marker = { name: 'moved to esdb://one:2113', c: '0', p: '0', id: NIL }
  const checkpoints = await readCheckpoints(pool)
  t.same(
    checkpoints.map(({ checkpoint }) => checkpoint),
    [{ commit: 10n, prepare: 9n, eventId }, at(20n)],
  )
  t.same(await moveCheckpoints(pool, checkpoints, [at(2n ** 62n, otherId), undefined]), [
    { table: 'read_models.checkpoints', name: 'a@1', from: 10n, to: 2n ** 62n },
  ])
  t.same(await rows(), [
    { name: 'a@1', c: String(2n ** 62n), p: String(2n ** 62n), id: otherId },
    { name: 'b', c: '20', p: '20', id: eventId },
    marker,
    { name: 'new@1', c: null, p: null, id: null },
  ])
})

t.test('no checkpoint moves when one has changed meanwhile', async (t) => {
  const { pool, rows } = await databaseWithCheckpoints(t)
  const checkpoints = await readCheckpoints(pool)
  await pool.query('update webhooks.checkpoints set commit_position = 21, prepare_position = 21')
  await t.rejects(moveCheckpoints(pool, checkpoints, [at(1n), at(2n)]), {
    name: 'OpsError',
    message: 'The checkpoint b has changed meanwhile: stop projector and worker first.',
  })
  t.same(await rows(), [
    { name: 'a@1', c: '10', p: '9', id: eventId },
    { name: 'b', c: '21', p: '21', id: eventId },
    { name: 'new@1', c: null, p: null, id: null },
  ])
})

t.test('a database without checkpoints is an error', async (t) => {
  const { pool } = await database(t)
  await t.rejects(readCheckpoints(pool), {
    message: /^This database has no checkpoints/,
  })
})
