// The bytes on disk need a Postgres of one's own: the scan of a whole system is in apps/local.
import t from 'tap'
import { destroyKeys } from './destroyKeys.ts'
import { scrub } from './scrub.ts'
import { keysHarness } from './testing/keysHarness.ts'

const maxTableBytes = 2 ** 30

t.test('a scrub rewrites the tables of ours and the statistics', async (t) => {
  const { start, pool } = await keysHarness(t)
  const [key] = await (await start()).named(['user:a'])
  await destroyKeys(pool, [key?.id ?? ''])
  const fileOf = async () =>
    (await pool.query<{ file: string }>("select pg_relation_filepath('privacy.keys') as file")).rows[0]?.file
  const before = await fileOf()
  const { tables, skipped, is_wal_clean } = await scrub(pool, { maxTableBytes })
  t.not(await fileOf(), before)
  t.ok(tables.includes('privacy.keys') && tables.includes('webhooks.deliveries'), tables.join())
  t.ok(tables.includes('pg_catalog.pg_statistic'))
  t.same(skipped, [])
  t.equal(is_wal_clean, true)
})

t.test('a scrub names a table in use, one that is too large, and one whose old rows may be read', async (t) => {
  const { start, pool } = await keysHarness(t)
  const keys = await start()
  const [key] = await keys.named(['user:a'])
  const reader = await pool.connect()
  await reader.query('begin isolation level repeatable read')
  await reader.query('select from privacy.emails')
  await keys.named(['user:b'])
  await destroyKeys(pool, [key?.id ?? ''])
  const waits = { lockMs: 50, snapshotMs: 50 }
  const because = async (table: string, maxBytes: number) => {
    const { skipped } = await scrub(pool, { maxTableBytes: maxBytes, waits })
    return skipped.find((each) => each.table === table)?.because
  }
  t.equal(await because('privacy.emails', maxTableBytes), 'in use')
  t.equal(await because('privacy.keys', maxTableBytes), 'a transaction may read old rows')
  t.equal(await because('privacy.keys', 0), 'too large')
  await reader.query('rollback')
  reader.release()
  t.equal(await because('privacy.keys', maxTableBytes), undefined)
})
