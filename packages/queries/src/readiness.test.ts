import { recordStopped } from '@paylog/projections/apply/checkpoints'
import { recordLags, sharedFigures } from '@paylog/projections/lag'
import { readModelDatabase } from '@paylog/projections/testing/projectionHarness'
import { createHttp } from '@paylog/runtime/http/http'
import { createHealth } from '@paylog/runtime/process/health'
import { createLog } from '@paylog/runtime/telemetry/log'
import { createMetrics } from '@paylog/runtime/telemetry/metrics'
import { recordingPool } from '@paylog/testing/recordingPool'
import { migrateWebhooks } from '@paylog/webhooks/deliveries/migrate'
import t, { type Test } from 'tap'
import { checkReadSide, measureReadSide, webhookFigures } from './readiness.ts'

async function startPage(t: Test) {
  const { pool } = await readModelDatabase(t)
  const log = createLog({ app: 'test', level: 'silent' })
  const http = createHttp({ log })
  const health = createHealth({ resultAgeMs: 0 })
  const metrics = createMetrics()
  checkReadSide(health, pool)
  measureReadSide(metrics, pool, log)
  await http.register(health.plugin)
  await http.register(metrics.plugin)
  t.teardown(() => http.close())
  return {
    pool,
    ready: async () => {
      const response = await http.inject('/health/ready')
      return { status: response.statusCode, checks: response.json<{ checks: Record<string, object> }>().checks }
    },
    metrics: async () => (await http.inject('/metrics')).payload,
  }
}

t.test('readiness shows the position and the recorded lag of each projection', async (t) => {
  const { pool, ready, metrics } = await startPage(t)
  await recordLags(pool, new Map([['payments', { events: 3, isMore: false, seconds: 1.5 }]]))
  await recordLags(pool, new Map([['products', { events: 10_000, isMore: true, seconds: 600 }]]))
  await pool.query("update read_models.checkpoints set commit_position = 200 where name = 'payments@1'")
  const { status, checks } = await ready()
  t.equal(status, 200, 'a lag does not make the API unavailable')
  const shown = { ok: true, version: 1, position: '200', read_at: String, lag_events: 3, lag_seconds: 1.5 }
  t.match(checks['projection payments'], shown)
  t.match(checks['projection products'], { ok: true, lag_events: 10_000, lag_is_more: true, lag_seconds: 600 })
  const page = await metrics()
  t.match(page, 'projection_lag_events{projection="payments"} 3')
  t.match(page, 'projection_lag_seconds{projection="payments"} 1.5')
  t.match(page, 'projection_lag_events{projection="products"} 10000')
})

t.test('a lag that could not be counted is null, not 0', async (t) => {
  const { pool, ready, metrics } = await startPage(t)
  await recordLags(pool, new Map([['payments', { events: 3, isMore: false, seconds: 1.5 }]]))
  await recordLags(pool, new Map([['payments', undefined]]))
  const { checks } = await ready()
  t.match(checks['projection payments'], {
    ok: true,
    lag_events: null,
    lag_seconds: null,
    reported_seconds_ago: /^\d$/,
  })
  t.notMatch(await metrics(), 'projection_lag_seconds{')
})

t.test('a lag recorded by a projector that no longer runs is ignored', async (t) => {
  const { pool, ready, metrics } = await startPage(t)
  await recordLags(pool, new Map([['payments', { events: 0, isMore: false, seconds: 0 }]]))
  await pool.query("update read_models.lag set reported_at = now() - interval '40 s'")
  const { status, checks } = await ready()
  t.equal(status, 200)
  t.match(checks['projection payments'], { lag_events: null, lag_seconds: null, reported_seconds_ago: /^4\d$/ })
  t.match(checks['projection addresses'], { lag_events: null, lag_seconds: null, reported_seconds_ago: null })
  const page = await metrics()
  t.notMatch(page, 'projection_lag_events{')
  t.match(page, /projection_report_age_seconds\{projection="payments"\} 4\d/)
  for (const [seconds, lag] of [
    [16, null],
    [10, 0],
  ]) {
    await pool.query(`update read_models.lag set reported_at = now() - interval '${seconds} s'`)
    t.match((await ready()).checks['projection payments'], { lag_events: lag }, `recorded ${seconds} s ago`)
  }
})

t.test('the readiness checks of all projections share one database query', async (t) => {
  const { pool } = await readModelDatabase(t)
  const { db, queries } = recordingPool(pool)
  const readFigures = sharedFigures(db)
  const [first, second] = await Promise.all([readFigures(), readFigures()])
  t.equal(first, second)
  t.equal(queries.length, 1)
  await recordLags(pool, new Map([['payments', { events: 3, isMore: false, seconds: 1.5 }]]))
  t.equal((await readFigures()).find(({ projection }) => projection === 'payments')?.lag?.events, 3)
})

t.test('readiness reports a stopped projection without the reason', async (t) => {
  const { pool, ready, metrics } = await startPage(t)
  await recordStopped(pool, 'payments@1', 'event x of payment-1 cannot be read')
  const { status, checks } = await ready()
  t.equal(status, 503)
  t.match(checks['projection payments'], { ok: false, stopped: true, version: 1, lag_events: null })
  t.notMatch(JSON.stringify(checks), 'payment-1', 'the event is not exposed')
  t.match(await metrics(), 'projection_stopped{projection="payments"} 1')
})

t.test('an API without webhook tables is ready and reports unknown webhook figures', async (t) => {
  const { ready } = await startPage(t)
  const { status, checks } = await ready()
  t.equal(status, 200)
  t.strictSame(checks.webhooks, { ok: true, known: false })
})

t.test('readiness shows pending and held webhooks and workers, and never fails because of them', async (t) => {
  const { pool, ready } = await startPage(t)
  await migrateWebhooks(pool)
  t.strictSame((await ready()).checks.webhooks, {
    ok: true,
    workers: 0,
    worker_seen_seconds: null,
    oldest_undelivered_seconds: null,
    overdue_seconds: 0,
    pending: 0,
    held: 0,
    disabled_nodes: [],
  })
  await pool.query(`insert into webhooks.workers values (gen_random_uuid(), now(), now() - interval '20 seconds')`)
  await pool.query(
    `insert into webhooks.nodes values ('1', true, null), ('2', true, now()), ('3', false, null), ('4', true, null)`,
  )
  await pool.query(
    `insert into webhooks.deliveries (id, node, event, mode, provider, body, source_stream, source_revision,
       source_event_id, correlation_id, causation_id, next_attempt_at, created_at)
     select gen_random_uuid(), node, 'payment.succeeded', 'canonical', 'sandbox', '{}', 'payment-1', 0, gen_random_uuid(),
       'c', 'c', now() - make_interval(secs => due), now() - make_interval(secs => age)
     from (values ('1', 100, 200), ('1', -50, 3600), ('2', 9000, 9000), ('3', 8000, 8000), ('3', 8000, 8000))
       as given (node, due, age)`,
  )
  const { status, checks } = await ready()
  t.equal(status, 200)
  t.match(checks.webhooks, {
    ok: true,
    workers: 1,
    worker_seen_seconds: /^2\d/,
    oldest_undelivered_seconds: /^360\d$/,
    overdue_seconds: /^10\d$/,
    pending: 2,
    held: 3,
    disabled_nodes: ['2'],
  })
})

t.test('slow webhook figures do not delay readiness', async (t) => {
  const { pool } = await startPage(t)
  await migrateWebhooks(pool)
  const other = await pool.connect()
  await other.query('begin; lock table webhooks.workers')
  const before = performance.now()
  t.strictSame(await webhookFigures(pool), { known: false })
  t.ok(performance.now() - before < 2_000)
  await other.query('rollback')
  other.release()
  t.match(await webhookFigures(pool), { workers: 0 })
})
