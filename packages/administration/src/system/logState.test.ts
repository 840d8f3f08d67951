import { createPool } from '@paylog/runtime/postgres/pool'
import { createLog } from '@paylog/runtime/telemetry/log'
import { createMigratedDatabase } from '@paylog/testing/migratedDatabase'
import t from 'tap'
import { readLogState } from './logState.ts'

const { databaseUrl } = await createMigratedDatabase(t)
const log = createLog({ app: 'test', level: 'silent' })
const pool = createPool({ databaseUrl, applicationName: 'test', max: 1, log })

t.test('the state of the log says how much of it is signed, since when, and why nothing is any more', async (t) => {
  const now = () => new Date()
  const nothing = { events: 0, signed_events: null, signed_at: null, stopped_because: null }
  t.same(await readLogState(pool, now), nothing)
  await pool.query(`update audit.tree set size = 12`)
  await pool.query(
    `insert into audit.checkpoints (size, root, note, made_at) values (7, '', '', now() - interval '1 hour'), (10, '', '', now())`,
  )
  const signed = await readLogState(pool, now)
  t.match(signed, { events: 12, signed_events: 10, stopped_because: null })
  t.ok(Math.abs(Date.parse(signed?.signed_at ?? '') - Date.now()) < 5_000)
  await pool.query(`update audit.tree set stopped_because = 'The log is not that of the tree'`)
  t.match(await readLogState(pool, now), { stopped_because: 'The log is not that of the tree' })
  await pool.end()
  t.equal(await readLogState(pool, now), null, 'without Postgres')
})
