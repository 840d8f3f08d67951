import { lockKey } from '@paylog/runtime/postgres/lock'
import { createLog } from '@paylog/runtime/telemetry/log'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { createRetention, removeSql } from './retention.ts'
import { createWorkerHarness, type WorkerHarness } from './testing/workerHarness.ts'

const log = createLog({ app: 'test', level: 'silent' })
const dayMs = 24 * 3_600_000
const now = () => new Date('2026-06-01T00:00:00Z')
const daysAgo = (days: number) => new Date(now().getTime() - days * dayMs)

/** Inserts deliveries with an attempt each. */
async function insert(
  { pool }: WorkerHarness,
  { count, status, createdAt, lastAt = createdAt }: { count: number; status: string; createdAt: Date; lastAt?: Date },
): Promise<void> {
  await pool.query(
    `with added as (
       insert into webhooks.deliveries (id, node, event, mode, provider, body, source_stream, source_revision,
         source_event_id, correlation_id, causation_id, status, attempts, requeue_at, last_attempt_at, last_error, created_at)
       select gen_random_uuid(), '1', 'payment.succeeded', 'canonical', 'sandbox', '{}', 'payment-1', 0,
         gen_random_uuid(), 'c', 'c', $2, 1, $3, $4, case when $2 <> 'succeeded' then 'timeout' end, $3 from generate_series(1, $1::int)
       returning id
     )
     insert into webhooks.attempts (delivery_id, attempt, at, ms) select id, 1, $4, 1 from added`,
    [count, status, createdAt, lastAt],
  )
}

async function counts({ pool }: WorkerHarness): Promise<Record<string, number>> {
  const { rows } = await pool.query<{ status: string; deliveries: number; attempts: number }>(
    `select status, count(*)::int as deliveries, count(a)::int as attempts
     from webhooks.deliveries d left join webhooks.attempts a on a.delivery_id = d.id group by 1`,
  )
  const { rows: all } = await pool.query<{ count: number }>('select count(*)::int as count from webhooks.attempts')
  return {
    ...Object.fromEntries(rows.map(({ status, deliveries }) => [status, deliveries])),
    attempts: all[0]?.count ?? 0,
  }
}

t.test('retention removes old finished deliveries with their attempts, and keeps pending ones', async (t) => {
  const harness = await createWorkerHarness(t, 'postgres', {})
  await insert(harness, { count: 1_100, status: 'succeeded', createdAt: daysAgo(91) })
  await insert(harness, { count: 3, status: 'failed', createdAt: daysAgo(100) })
  await insert(harness, { count: 5, status: 'pending', createdAt: daysAgo(400) })
  await insert(harness, { count: 7, status: 'succeeded', createdAt: daysAgo(89) })
  await insert(harness, { count: 2, status: 'failed', createdAt: daysAgo(91), lastAt: daysAgo(1) })
  const retention = createRetention({ pool: harness.pool, keepMs: 90 * dayMs, now, log })
  t.equal(await retention.removeBatch(daysAgo(90)), 253, 'the batch size is limited')
  const stop = new AbortController()
  t.teardown(() => stop.abort())
  const running = retention.run(stop.signal)
  await waitFor(async () => (await counts(harness)).attempts === 14, { what: 'the end of the removal' })
  stop.abort()
  await running
  t.strictSame(await counts(harness), { pending: 5, succeeded: 7, failed: 2, attempts: 14 })
})

t.test(
  'retention removes old webhook tests in any status, and keeps pending real deliveries [10.4-tests-removed]',
  async (t) => {
    const harness = await createWorkerHarness(t, 'postgres', {})
    for (const status of ['pending', 'succeeded', 'failed'])
      for (const createdAt of [daysAgo(91), daysAgo(89)]) await insert(harness, { count: 2, status, createdAt })
    await harness.pool.query('update webhooks.deliveries set is_test = true')
    await harness.pool.query(
      `update webhooks.deliveries set attempts = 0, last_attempt_at = null, next_attempt_at = created_at
     where id in (select id from webhooks.deliveries where status = 'pending' and created_at < $1 limit 1)`,
      [daysAgo(90)],
    )
    await insert(harness, { count: 3, status: 'pending', createdAt: daysAgo(400) })
    const redelivered = { count: 1, status: 'pending', createdAt: daysAgo(300) }
    await insert(harness, redelivered)
    await harness.pool.query(
      'update webhooks.deliveries set is_test = true, next_attempt_at = $1 where created_at = $2',
      [daysAgo(0), redelivered.createdAt],
    )
    const retention = createRetention({ pool: harness.pool, keepMs: 90 * dayMs, now, log })
    t.equal(await retention.removeBatch(daysAgo(90)), 6)
    t.hasStrict(await counts(harness), { succeeded: 2, failed: 2, pending: 6 })
  },
)

t.test('only one worker at a time removes old deliveries', async (t) => {
  const harness = await createWorkerHarness(t, 'postgres', {})
  await insert(harness, { count: 3, status: 'failed', createdAt: daysAgo(100) })
  const retention = createRetention({ pool: harness.pool, keepMs: 90 * dayMs, now, log })
  const other = await harness.pool.connect()
  await other.query('select pg_advisory_lock($1)', [lockKey('webhooks-retention')])
  t.equal(await retention.removeBatch(daysAgo(90)), 0)
  other.release(true)
  await waitFor(async () => (await retention.removeBatch(daysAgo(90))) === 3, { what: 'the lock to be free' })
})

t.test('retention 0 keeps all deliveries', async (t) => {
  const harness = await createWorkerHarness(t, 'postgres', {})
  await insert(harness, { count: 3, status: 'failed', createdAt: daysAgo(4_000) })
  await createRetention({ pool: harness.pool, keepMs: 0, now, log }).run(new AbortController().signal)
  t.strictSame(await counts(harness), { failed: 3, attempts: 3 })
})

t.test('the query for old deliveries uses the indexes', async (t) => {
  const harness = await createWorkerHarness(t, 'postgres', {})
  for (const status of ['succeeded', 'failed']) await insert(harness, { count: 10_000, status, createdAt: daysAgo(10) })
  await harness.pool.query('analyze webhooks.deliveries')
  const { rows } = await harness.pool.query<{ 'QUERY PLAN': string }>(`explain ${removeSql}`, [daysAgo(90), 250, '1'])
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  t.match(plan, /Index Scan.* using log_arrived on/)
  t.match(plan, /Index Scan.* using log_failed on/)
  t.notMatch(plan, 'Seq Scan on deliveries')
})
