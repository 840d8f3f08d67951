import { randomUUID } from 'node:crypto'
import { createLog } from '@paylog/runtime/telemetry/log'
import { waitFor } from '@paylog/testing/waitFor'
import type { Pool } from 'pg'
import t from 'tap'
import { workerDatabase } from '../../testing/workerDatabase.ts'
import { redeliver } from '../operations/redelivery.ts'
import { emptyDeliveries } from './erasure.ts'
import { indexPastDays } from './partitions.ts'

const log = createLog({ app: 'test', level: 'silent' })
const [ann, bob] = [randomUUID(), randomUUID()]

/** Inserts a delivery that ended this many days ago. */
async function finished(pool: Pool, keyIds: readonly string[], daysAgo = 0): Promise<string> {
  const id = randomUUID()
  await pool.query(
    `insert into webhooks.finished_deliveries (id, node, event, mode, provider, body, source_stream, source_revision, source_event_id,
      correlation_id, causation_id, is_test, created_at, attempts, attempts_made, last_attempt_at, ended_at, key_ids)
    values ($1, '1', 'payment.succeeded', 'canonical', 'sandbox', 'body', 'payment-1', 1, $1, 'c', 'c', false, now(), 1,
      '[[1, 2, 200, null, "echo"]]', now(), now() - make_interval(days => $2), $3)`,
    [id, daysAgo, keyIds],
  )
  return id
}
const bodies = async (pool: Pool) => {
  const { rows } = await pool.query<{ id: string; body: string | null; response: string | null }>(
    `select id, body, attempts_made -> 0 ->> 4 as response from webhooks.all_deliveries`,
  )
  return new Map(rows.map(({ id, body, response }) => [id, [body, response]]))
}

t.test('deliveries of the present day and of indexed past days are emptied, and no others', async (t) => {
  const { pool } = await workerDatabase(t, { max: 4, log })
  await pool.query('select webhooks.create_partitions(current_date - 3, current_date)')
  const affected = [await finished(pool, [ann]), await finished(pool, [ann, bob], 2)]
  const others = [await finished(pool, [bob]), await finished(pool, [bob], 2), await finished(pool, [])]
  t.equal((await indexPastDays(pool)).length, 3)
  t.strictSame(await indexPastDays(pool), [], 'each day is indexed once')
  t.equal(await emptyDeliveries(pool, [ann]), 2)
  const found = await bodies(pool)
  for (const id of affected) t.strictSame(found.get(id), [null, null])
  for (const id of others) t.strictSame(found.get(id), ['body', 'echo'])
  t.equal(await emptyDeliveries(pool, [ann]), 0, 'a repeat finds nothing')
})

t.test('a delivery that moves to the other table during the erasure is emptied', async (t) => {
  const { pool } = await workerDatabase(t, { max: 4, log })
  const id = await finished(pool, [ann])
  const client = await pool.connect()
  await client.query('begin; select from webhooks.finished_deliveries for update')
  const isWaiting = (relation: string) =>
    waitFor(
      async () => {
        const { rowCount } = await pool.query(`select from pg_locks where not granted and ${relation}`)
        return rowCount === 1
      },
      { what: 'the wait for a lock' },
    )
  const redelivering = redeliver(pool, [id], new Date())
  await isWaiting('relation is null')
  const emptying = emptyDeliveries(pool, [ann])
  await isWaiting(`relation = 'webhooks.finished_deliveries'::regclass`)
  await client.query('commit')
  client.release()
  t.equal((await redelivering).length, 1)
  t.equal(await emptying, 1)
  t.strictSame((await bodies(pool)).get(id), [null, null])
})
