import { createLog } from '@paylog/runtime/telemetry/log'
import { createBacklogCheck, readBacklog } from '@paylog/webhooks/deliveries/backlog'
import { concurrencyPerEndpoint } from '@paylog/webhooks/deliveries/send/lanes'
import { endpointSettings } from '@paylog/webhooks/testing/eventFixtures'
import { batchOf } from '@paylog/webhooks/testing/paymentFixture'
import { createWorkerHarness } from '@paylog/webhooks/testing/workerHarness'
import t, { type Test } from 'tap'
import { startHeartbeat } from './heartbeat.ts'

const log = createLog({ app: 'test', level: 'silent' })
const env = { ...endpointSettings(1, 'canonical', { TIMEOUT: '10s' }), ...endpointSettings(2, 'canonical') }

/** Records `count` deliveries for each endpoint, `seconds` ago and unsent. */
async function waiting(t: Test, { count, seconds }: { count: number; seconds: number }) {
  const harness = await createWorkerHarness(t, 'postgres', env)
  const { pool, endpoints } = harness
  const configure = (names: readonly string[]) =>
    startHeartbeat({ pool, worker: '00000000-0000-4000-8000-000000000000', endpoints: names, log })
  await configure(['1', '2'])
  await harness.dispatcher.start()
  await harness.dispatcher.handle(batchOf(count))
  await pool.query(
    `update webhooks.deliveries set created_at = now() - make_interval(secs => $1),
       next_attempt_at = now() - make_interval(secs => $1)`,
    [seconds],
  )
  const ended = new Map<string, Date>()
  const check = createBacklogCheck({
    pool,
    endpoints,
    endedAt: (endpoint) => ended.get(endpoint),
    now: () => new Date(),
  })
  return { pool, check, configure, ended }
}

t.test('readiness: new deliveries and an empty backlog are not late', async (t) => {
  const { check, pool } = await waiting(t, { count: 1, seconds: 65 })
  t.match(await check(), {
    ok: undefined,
    pending: 2,
    overdue_seconds: /^6[5-9]$/,
    oldest_undelivered_seconds: /^6[5-9]$/,
  })
  await pool.query('delete from webhooks.deliveries')
  t.strictSame(await check(), {
    oldest_undelivered_seconds: null,
    overdue_seconds: 0,
    pending: 0,
    held: 0,
    disabled_nodes: [],
    late_nodes: [],
  })
})

t.test('readiness: a delivery overdue by more than a minute and the timeout is late', async (t) => {
  const { check } = await waiting(t, { count: 1, seconds: 75 })
  t.match(await check(), { ok: false, late_nodes: ['1', '2'], overdue_seconds: /^7[5-9]$/ })
})

t.test('readiness: an old delivery whose retry is not due is not late', async (t) => {
  const { check, pool } = await waiting(t, { count: 1, seconds: 7_200 })
  await pool.query(`update webhooks.deliveries set attempts = 3, next_attempt_at = now() + interval '1 hour'`)
  t.match(await check(), { ok: undefined, overdue_seconds: 0, pending: 2, oldest_undelivered_seconds: /^720\d$/ })
})

t.test('readiness: deliveries of a paused endpoint are reported separately and are not late', async (t) => {
  const { check, pool } = await waiting(t, { count: 3, seconds: 7_200 })
  await pool.query(`update webhooks.nodes set disabled_at = now() where name = '2'`)
  t.match(await check(), { ok: false, pending: 3, held: 3, disabled_nodes: ['2'], late_nodes: ['1'] })
  await pool.query(`update webhooks.nodes set disabled_at = now()`)
  t.match(await check(), { ok: undefined, held: 6, pending: 0, oldest_undelivered_seconds: null, overdue_seconds: 0 })
})

t.test('readiness: a slow endpoint whose attempts keep ending does not make deliveries late', async (t) => {
  const { check, ended, pool } = await waiting(t, { count: concurrencyPerEndpoint, seconds: 600 })
  ended.set('1', new Date(Date.now() - 30_000))
  ended.set('2', new Date(Date.now() - 80_000))
  t.match(await check(), { ok: false, late_nodes: ['2'] }, 'an endpoint whose attempts do not end is late')
  await pool.query(
    `delete from webhooks.deliveries where id = (select id from webhooks.deliveries where node = '1' limit 1)`,
  )
  t.match(await check(), { ok: false, late_nodes: ['1', '2'] }, 'with free concurrency a due delivery is late')
})

t.test(
  'the backlog leaves out endpoints of other workers and marks endpoints that are no longer configured',
  async (t) => {
    const { pool, configure } = await waiting(t, { count: 1, seconds: 10 })
    await configure(['1'])
    t.strictSame(
      (await readBacklog(pool, ['1'])).map(({ endpoint }) => endpoint),
      ['1'],
    )
    const { rows } = await pool.query('select node, is_configured, pending from webhooks.backlog order by node')
    t.strictSame(rows, [
      { node: '1', is_configured: true, pending: 1 },
      { node: '2', is_configured: false, pending: 1 },
    ])
  },
)

t.test('the backlog query uses indexes for any number of deliveries', async (t) => {
  const { pool } = await waiting(t, { count: 1, seconds: 10 })
  await pool.query(
    `insert into webhooks.deliveries (id, node, event, mode, provider, body, source_stream, source_revision,
       source_event_id, correlation_id, causation_id, attempts, next_attempt_at, created_at)
     select gen_random_uuid(), '1', 'payment.succeeded', 'canonical', 'sandbox', '{}', 'payment-1', 0, gen_random_uuid(),
       'c', 'c', 1, now(), now()
     from generate_series(1, 30000) as n`,
  )
  await pool.query('analyze webhooks.deliveries')
  const { rows } = await pool.query<{ 'QUERY PLAN': string }>(`explain select * from webhooks.backlog`)
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  t.notMatch(plan, 'Seq Scan on deliveries')
  t.match(plan, /using deliveries_due/)
  t.match(await readBacklog(pool, ['1']), [{ pending: 10_000, due: 1_000 }])
})

t.test('readiness: webhook tests are never late', async (t) => {
  const { check, pool } = await waiting(t, { count: 1, seconds: 75 })
  await pool.query('update webhooks.deliveries set is_test = true')
  t.match(await check(), { ok: undefined, late_nodes: [], overdue_seconds: 0, pending: 2 })
})
