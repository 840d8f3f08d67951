import { createLog } from '@paylog/runtime/telemetry/log'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { createWorkerHarness, type WorkerHarness } from '../../testing/workerHarness.ts'
import { createPartitions, dropOldPartitions, maintainPartitions, removePendingTests } from './partitions.ts'

const log = createLog({ app: 'test', level: 'silent' })
const dayMs = 24 * 3_600_000

/** Inserts deliveries that finished some days ago, at noon UTC, with the partition of that day. */
async function insertFinished({ pool }: WorkerHarness, daysAgo: number, count = 1): Promise<void> {
  const noon = `date_trunc('day', now() at time zone 'UTC') at time zone 'UTC' - make_interval(days => $1::integer) + interval '12 hours'`
  await pool.query(
    `select webhooks.create_partitions(day, day) from (select ((${noon}) at time zone 'UTC')::date) as d (day)`,
    [daysAgo],
  )
  await pool.query(
    `insert into webhooks.finished_deliveries (id, node, event, mode, provider, body, source_stream, source_revision,
       source_event_id, correlation_id, causation_id, is_test, created_at, attempts, attempts_made, last_attempt_at, ended_at)
     select gen_random_uuid(), '1', 'payment.succeeded', 'canonical', 'sandbox', '{}', 'payment-1', 0, gen_random_uuid(),
       'c', 'c', false, ${noon}, 1, '[]', ${noon}, ${noon} from generate_series(1, $2::integer)`,
    [daysAgo, count],
  )
}

async function agesInDays({ pool }: WorkerHarness): Promise<number[]> {
  const { rows } = await pool.query<{ age: number }>(
    `select (now() at time zone 'UTC')::date - (ended_at at time zone 'UTC')::date as age from webhooks.finished_deliveries order by 1`,
  )
  return rows.map(({ age }) => age)
}

const partitionCount = async ({ pool }: WorkerHarness) =>
  (await pool.query(`select from pg_inherits where inhparent = 'webhooks.finished_deliveries'::regclass`)).rowCount

t.test('retention drops the partitions of days that are over for longer than it, and keeps later ones', async (t) => {
  const harness = await createWorkerHarness(t, 'postgres', {})
  for (const daysAgo of [0, 1, 29, 30, 32, 400]) await insertFinished(harness, daysAgo)
  const before = (await partitionCount(harness)) ?? 0
  t.equal((await dropOldPartitions(harness.pool, 30 * dayMs)).length, 2)
  t.strictSame(
    await agesInDays(harness),
    [0, 1, 29, 30],
    'a day is kept until it has been over for the whole retention',
  )
  t.equal(await partitionCount(harness), before - 2)
  t.strictSame(await dropOldPartitions(harness.pool, 30 * dayMs), [])
})

t.test(
  'a locked partition stays until a later attempt, and the deliveries wait at most the lock timeout',
  async (t) => {
    const harness = await createWorkerHarness(t, 'postgres', {})
    await insertFinished(harness, 100)
    const reader = await harness.pool.connect()
    await reader.query('begin; select count(*) from webhooks.finished_deliveries')
    await t.rejects(dropOldPartitions(harness.pool, 30 * dayMs), { code: '55P03' })
    await insertFinished(harness, 0)
    await reader.query('rollback')
    reader.release()
    await dropOldPartitions(harness.pool, 30 * dayMs)
    t.strictSame(await agesInDays(harness), [0])
  },
)

t.test('partitions are created for a week ahead, once', async (t) => {
  const harness = await createWorkerHarness(t, 'postgres', {})
  await harness.pool.query(`do $$ declare name text; begin
    for name in select inhrelid::regclass from pg_inherits where inhparent = 'webhooks.finished_deliveries'::regclass loop
      execute 'drop table ' || name;
    end loop; end $$`)
  await Promise.all([createPartitions(harness.pool), createPartitions(harness.pool)])
  t.equal(await partitionCount(harness), 8)
  await insertFinished(harness, -7)
  t.strictSame(await agesInDays(harness), [-7])
})

t.test(
  'retention removes pending tests that are old, and keeps pending real deliveries [10.4-tests-removed]',
  async (t) => {
    const harness = await createWorkerHarness(t, 'postgres', {})
    const insert = (days: number, isTest: boolean, nextInDays: number) =>
      harness.pool.query(
        `insert into webhooks.deliveries (id, node, event, mode, provider, body, source_stream, source_revision,
         source_event_id, correlation_id, causation_id, is_test, created_at, next_attempt_at)
       select gen_random_uuid(), '1', 'payment.succeeded', 'canonical', 'sandbox', '{}', 'payment-1', 0, gen_random_uuid(),
         'c', 'c', $2, now() - make_interval(days => $1::integer), now() - make_interval(days => $3::integer)`,
        [days, isTest, nextInDays],
      )
    await insert(91, true, 91)
    await insert(89, true, 89)
    await insert(400, false, 400)
    await insert(300, true, 1)
    t.equal(await removePendingTests(harness.pool, 90 * dayMs), 1)
    t.equal((await harness.pool.query('select from webhooks.deliveries')).rowCount, 3)
  },
)

t.test('retention 0 keeps all deliveries', async (t) => {
  const harness = await createWorkerHarness(t, 'postgres', {})
  await insertFinished(harness, 4_000)
  await harness.pool.query(
    'drop table webhooks.finished_deliveries_' +
      new Date(Date.now() + 7 * dayMs).toISOString().slice(0, 10).replaceAll('-', ''),
  )
  const before = (await partitionCount(harness)) ?? 0
  const stop = new AbortController()
  const running = maintainPartitions({
    pool: harness.pool,
    clock: { agrees: async () => true },
    keepMs: 0,
    signal: stop.signal,
    log,
  })
  await waitFor(async () => (await partitionCount(harness)) === before + 1, { what: 'the missing partition' })
  stop.abort()
  await running
  t.strictSame(await agesInDays(harness), [4_000])
})

t.test('retention drops no partition while the clock of the database differs from others', async (t) => {
  const harness = await createWorkerHarness(t, 'postgres', {})
  await insertFinished(harness, 400)
  const stop = new AbortController()
  let asked = 0
  const agrees = async () => {
    asked += 1
    return false
  }
  const running = maintainPartitions({
    ...{ pool: harness.pool, keepMs: dayMs, signal: stop.signal, log },
    clock: { agrees },
  })
  await waitFor(() => asked > 0, { what: 'the comparison' })
  stop.abort()
  await running
  t.strictSame(await agesInDays(harness), [400])
})
