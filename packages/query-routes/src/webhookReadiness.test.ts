import { migrateWebhooks } from '@paylog/deliveries/migrate'
import { readModelDatabase } from '@paylog/projections/testing/projectionHarness'
import { createHttp } from '@paylog/runtime/http/http'
import { createHealth } from '@paylog/runtime/process/health'
import { createLog } from '@paylog/runtime/telemetry/log'
import t, { type Test } from 'tap'
import { checkReadSide, webhookFigures } from './readiness.ts'

async function page(t: Test) {
  const { pool } = await readModelDatabase(t)
  const http = createHttp({ log: createLog({ app: 'test', level: 'silent' }) })
  const health = createHealth({ resultAgeMs: 0 })
  checkReadSide(health, pool)
  await http.register(health.plugin)
  t.teardown(() => http.close())
  return { pool, ready: async () => await http.inject('/health/ready') }
}

t.test('an API without webhook tables is ready and reports unknown webhook figures', async (t) => {
  const { ready } = await page(t)
  const response = await ready()
  t.equal(response.statusCode, 200)
  t.strictSame(response.json().checks.webhooks, { ok: true, known: false })
})

t.test('readiness shows pending and held webhooks and workers, and never fails because of them', async (t) => {
  const { pool, ready } = await page(t)
  await migrateWebhooks(pool)
  t.strictSame((await ready()).json().checks.webhooks, {
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
  const response = await ready()
  t.equal(response.statusCode, 200)
  t.match(response.json().checks.webhooks, {
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
  const { pool } = await page(t)
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
